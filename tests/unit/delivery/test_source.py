from pathlib import Path

import pytest

from skillyard.delivery.source import Source, SourceKind, check_reachable, is_loopback
from skillyard.delivery.source_text import parse_source
from skillyard.errors import InputError, NotAllowedError


@pytest.mark.parametrize(
    "location",
    [
        "--upload-pack=touch /tmp/x",
        "-oProxyCommand=x",
        "ext::sh -c touch",
        "ext::https://example.com/x",
        "git://example.com/repo",
        "ftp://example.com/repo",
        "https://-oProxyCommand=x/repo",
        "ssh://-oProxyCommand=x/repo",
        "ssh://-oProxyCommand@host/repo",
        "git@-oProxyCommand:repo",
        "git@host:-repo",
        "https:///repo",
        "file://host/repo",
        "file:relative",
        "https://example.com:port/repo",
        "https://example.com/re\npo",
        "host:repo",
        "",
    ],
)
def test_an_address_that_could_mean_something_else_to_git_is_refused(location: str):
    with pytest.raises(InputError):
        Source(kind=SourceKind.GIT, location=location)


@pytest.mark.parametrize(
    "location",
    ["https://example.com/o/r", "ssh://git@example.com:22/o/r", "git@example.com:o/r.git", "file:///srv/r.git"],
)
def test_ordinary_git_addresses_are_accepted(location: str):
    assert Source(kind=SourceKind.GIT, location=location).location == location


@pytest.mark.parametrize(
    "ref",
    ["-x", "--upload-pack=x", "a:b", "+main", "a..b", "a b", "a~1", "HEAD^", "@{u}", "a*", "refs//x", "/x", "x.lock"],
)
def test_a_ref_that_git_would_read_as_something_else_is_refused(ref: str):
    with pytest.raises(InputError, match="not a branch"):
        Source(kind=SourceKind.GIT, location="https://example.com/r", ref=ref)


@pytest.mark.parametrize("ref", ["main", "v1.2", "feature/x", "기능", "a" * 40, "release-1.x", "user@topic"])
def test_ordinary_refs_are_accepted(ref: str):
    assert Source(kind=SourceKind.GIT, location="https://example.com/r", ref=ref).ref == ref


@pytest.mark.parametrize("subpath", ["../x", "a/../b", "/abs", "a//b", "./a", "a\\b", "-x", "a/\x00"])
def test_a_subpath_that_leads_elsewhere_is_refused(subpath: str):
    with pytest.raises(InputError, match="plain relative path"):
        Source(kind=SourceKind.GIT, location="https://example.com/r", subpath=subpath)


@pytest.mark.parametrize("kind", [SourceKind.GIT, SourceKind.URL, SourceKind.INDEX])
@pytest.mark.parametrize("user", ["user:hunter2", "hunter2"])
def test_a_password_in_an_address_is_refused_and_not_repeated(kind: SourceKind, user: str):
    with pytest.raises(InputError) as caught:
        Source(kind=kind, location=f"https://{user}@example.com/r")
    assert "credential helper" in caught.value.hint
    assert "hunter2" not in str(caught.value.as_dict())


def test_a_user_name_is_fine_for_ssh():
    assert Source(kind=SourceKind.GIT, location="ssh://git@example.com/r")


def test_a_digest_must_be_a_whole_sha256():
    with pytest.raises(InputError, match="64 lower-case hex") as caught:
        Source(kind=SourceKind.URL, location="https://example.com/x.skill", digest="sha256:abc")
    assert "--digest sha256:HEX" in caught.value.hint


@pytest.mark.parametrize("query", ["token=t", "X-Amz-Signature=t", "a=1&api_key=t", "sig=t"])
def test_secret_parameters_are_not_recorded(query: str):
    source = Source(kind=SourceKind.URL, location=f"https://example.com/x.skill?{query}")
    assert source.recordable.location == "https://example.com/x.skill"


def test_other_parameters_are_recorded():
    source = Source(kind=SourceKind.URL, location="https://example.com/x.skill?version=2")
    assert source.recordable == source


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.9.9.9", "::1"])
def test_this_machine_is_loopback(host: str):
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["example.com", "10.0.0.1", "localhost.example.com", None])
def test_other_machines_are_not_loopback(host: str | None):
    assert not is_loopback(host)


def test_plain_http_is_refused_unless_allowed_or_on_this_machine():
    with pytest.raises(NotAllowedError, match="plain http"):
        check_reachable("http://example.com/x", allow_http=False)
    check_reachable("http://example.com/x", allow_http=True)
    check_reachable("http://127.0.0.1:8000/x", allow_http=False)
    check_reachable("https://example.com/x", allow_http=False)


def test_a_source_reads_as_a_person_would_type_it():
    source = Source(kind=SourceKind.GIT, location="https://github.com/o/r", ref="v1", subpath="skills/x")
    assert str(source) == "https://github.com/o/r//skills/x#v1"


def test_the_words_of_a_source_lead_back_to_it(tmp_path: Path):
    source = Source(kind=SourceKind.GIT, location="https://github.com/o/r", ref="v1", subpath="skills/x")
    assert [parse_source(word, cwd=tmp_path) for word in source.words] == [source]
    index = Source(kind=SourceKind.INDEX, location="https://a.example/.well-known/agent-skills/index.json", subpath="x")
    assert index.words == (index.location, "--skill", "x")
