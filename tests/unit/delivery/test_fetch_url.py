import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Mapping
from dataclasses import replace

import pytest

from skillyard.delivery.download import Credentials, DownloadLimits
from skillyard.delivery.fetch import fetch_again, fetch_source
from skillyard.delivery.source import Source, SourceKind
from skillyard.errors import ConflictError, InputError, LimitError, NotFoundError, SkillyardError
from skillyard.skill.archive import pack
from skillyard.skill.models import Severity

SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"


def url(location: str, digest: str = "") -> Source:
    return Source(kind=SourceKind.URL, location=location, digest=digest)


def sha256(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def tar_gz(files: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def test_an_archive_is_known_by_its_bytes_not_by_its_name(site, make_bundle):
    data = pack(make_bundle({"a.txt": "a"}), "pdf")
    skill = fetch_source(url(site.put("/download?id=7", data))).skills[0]
    assert (skill.id, skill.bundle.digest) == ("pdf", make_bundle({"a.txt": "a"}).digest)
    assert skill.resolved == sha256(data)


def test_a_tar_archive_with_the_skill_at_its_top_is_read(site, skill_md):
    skill = fetch_source(url(site.put("/x.tar.gz", tar_gz({"SKILL.md": skill_md("pdf").encode()})))).skills[0]
    assert skill.id == "pdf"


def test_a_tar_of_the_oldest_kind_is_known_like_on_disk(site, skill_md):
    # A header without the `ustar` magic: clear it and set the sum that it is checked by.
    data = bytearray(gzip.decompress(tar_gz({"SKILL.md": skill_md("pdf").encode()})))
    data[257:265] = bytes(8)
    data[148:156] = b" " * 8
    data[148:156] = b"%06o\0 " % sum(data[:512])
    assert fetch_source(url(site.put("/download", bytes(data)))).skills[0].id == "pdf"


@pytest.mark.parametrize(
    "data", [b"\xfd7zXZ\0" + bytes(40), b"7z\xbc\xaf\x27\x1c" + bytes(40), b"Rar!\x1a\x07" + bytes(40)]
)
def test_an_archive_of_another_kind_is_refused_as_one(site, data: bytes):
    (refused,) = fetch_source(url(site.put("/pdf", data))).refused
    assert [finding.code for finding in refused.findings] == ["archive-unsupported"]


def test_a_single_skill_file_is_a_skill(site, skill_md):
    data = skill_md("pdf").encode()
    skill = fetch_source(url(site.put("/skills/other/SKILL.md", data))).skills[0]
    assert (skill.id, skill.resolved) == ("pdf", sha256(data))
    assert [file.path for file in skill.bundle] == ["SKILL.md"]


def test_a_skill_file_without_a_valid_name_takes_its_folder(site, skill_md):
    assert (
        fetch_source(url(site.put("/skills/pdf-tools/SKILL.md", skill_md("PDF Tools!").encode()))).skills[0].id
        == "pdf-tools"
    )


def test_a_digest_may_be_that_of_the_bytes_or_of_the_tree(site, make_bundle):
    bundle = make_bundle()
    data = pack(bundle, "pdf")
    address = site.put("/pdf.skill", data)
    assert fetch_source(url(address, sha256(data))).skills
    assert fetch_source(url(address, bundle.digest)).skills
    with pytest.raises(ConflictError, match="does not match"):
        fetch_source(url(address, "sha256:" + "0" * 64))


def test_a_web_page_is_refused_and_git_is_hinted_at(site):
    address = site.put("/team/repo", b"<!DOCTYPE html><html></html>")
    with pytest.raises(InputError, match="web page") as caught:
        fetch_source(url(address))
    assert f"git+{address}" in caught.value.hint


def test_bytes_that_are_no_skill_are_refused_with_findings(site):
    fetched = fetch_source(url(site.put("/x/SKILL.md", b"\x00\xff nothing")))
    assert (fetched.skills, len(fetched.refused)) == ((), 1)
    assert fetched.refused[0].findings


def test_an_oversized_download_is_refused(site, make_bundle):
    data = pack(make_bundle({"a": b"x" * 10}), "pdf")
    with pytest.raises(LimitError):
        fetch_source(url(site.put("/pdf.skill", data)), limits=DownloadLimits(max_bytes=len(data) - 1))


def index(
    site, skills: list[object], *, path: str = "/.well-known/agent-skills/index.json", schema: object = SCHEMA
) -> Source:
    location = site.put(path, json.dumps({"$schema": schema, "skills": skills}).encode())
    return Source(kind=SourceKind.INDEX, location=location)


def listed(name: str, data: bytes, kind: str = "archive", **other: object) -> dict[str, object]:
    return {"name": name, "type": kind, "description": "x", "url": f"files/{name}", "digest": sha256(data), **other}


@pytest.fixture
def two_skills(site, make_bundle, skill_md) -> Source:
    archive, text = pack(make_bundle(), "pdf"), skill_md("notes").encode()
    site.put("/.well-known/agent-skills/files/pdf", archive)
    site.put("/.well-known/agent-skills/files/notes", text)
    return index(site, [listed("pdf", archive), listed("notes", text, "skill-md")])


def test_an_index_yields_every_skill_it_lists(two_skills: Source):
    fetched = fetch_source(two_skills)
    assert [(skill.id, skill.source.subpath) for skill in fetched.skills] == [("pdf", "pdf"), ("notes", "notes")]
    assert all(skill.source.kind is SourceKind.INDEX for skill in fetched.skills)


def test_only_the_skills_asked_for_are_downloaded(two_skills: Source, site):
    assert [skill.id for skill in fetch_source(two_skills, only=["notes"]).skills] == ["notes"]
    assert not any("pdf" in path for path in site.asked)


def test_a_listed_skill_is_fetched_again_by_its_name(two_skills: Source, site):
    skills = [(skill.source, skill.id) for skill in fetch_source(two_skills).skills]
    site.asked.clear()
    found = fetch_again(skills)
    assert [found[skill].id for skill in skills] == ["pdf", "notes"]
    assert site.asked.count("/.well-known/agent-skills/index.json") == 1


def test_a_digest_that_does_not_match_refuses_that_skill_only(site, make_bundle):
    archive = pack(make_bundle(), "pdf")
    site.put("/.well-known/agent-skills/files/pdf", archive)
    site.put("/.well-known/agent-skills/files/forged", archive + b"x")
    fetched = fetch_source(index(site, [listed("pdf", archive), listed("forged", archive)]))
    assert [skill.id for skill in fetched.skills] == ["pdf"]
    assert fetched.refused[0].id == "forged"
    assert "digest" in fetched.refused[0].findings[0].message


@pytest.mark.parametrize(
    "entry",
    [
        "text",
        {},
        {"name": "../escape"},
        {"name": "pdf"},
        {"name": "pdf", "type": "archive", "url": "x"},
        {"name": "pdf", "type": "archive", "url": "x", "digest": "md5:1"},
        {"name": "pdf", "type": "shell", "url": "x", "digest": "sha256:" + "0" * 64},
        {"name": "pdf", "type": "archive", "url": "file:///etc/passwd", "digest": "sha256:" + "0" * 64},
        {"name": "pdf", "type": "archive", "url": "http://example.invalid/x", "digest": "sha256:" + "0" * 64},
        {"name": "pdf", "type": "archive", "url": "http://u:p@127.0.0.1/x", "digest": "sha256:" + "0" * 64},
        {"name": "pdf", "type": "archive", "url": "missing", "digest": "sha256:" + "0" * 64},
    ],
)
def test_a_bad_entry_is_refused_and_its_neighbour_is_not(site, skill_md, entry: object):
    text = skill_md("notes").encode()
    site.put("/.well-known/agent-skills/files/notes", text)
    fetched = fetch_source(index(site, [entry, listed("notes", text, "skill-md")]))
    assert [skill.id for skill in fetched.skills] == ["notes"]
    assert [refused.findings[0].code for refused in fetched.refused] == ["index-entry"]


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b'{"skills": {}}', b"[" * 100_000, b'{"$schema": "https://x/9", "skills": []}', b"\xff"]
)
def test_what_is_no_index_is_a_typed_error(site, body: bytes):
    location = site.put("/.well-known/agent-skills/index.json", body)
    with pytest.raises(SkillyardError):
        fetch_source(Source(kind=SourceKind.INDEX, location=location))


def test_an_index_at_any_address_is_recognised(site, skill_md):
    text = skill_md("notes").encode()
    site.put("/files/notes", text)
    location = index(site, [listed("notes", text, "skill-md")], path="/my.json").location
    assert fetch_source(url(location)).skills[0].source.kind is SourceKind.INDEX


def test_a_site_without_an_index_is_not_found(site):
    with pytest.raises(NotFoundError):
        fetch_source(Source(kind=SourceKind.INDEX, location=f"{site.url}/.well-known/agent-skills/index.json"))


def test_a_name_that_is_not_listed_is_answered_with_those_that_are(two_skills: Source):
    with pytest.raises(NotFoundError, match="no skill gamma") as caught:
        fetch_source(two_skills, only=["gamma"])
    assert "notes" in caught.value.hint


def test_one_name_of_several_that_is_not_listed_refuses_them_all(two_skills: Source):
    with pytest.raises(NotFoundError, match="no skill pdff;") as caught:
        fetch_source(two_skills, only=["notes", "pdff"])
    assert caught.value.hint == "Did you mean 'pdf'? It has: notes, pdf."


def test_a_listed_skill_that_is_gone_is_told_as_such_and_the_others_are_fetched(two_skills: Source):
    gone = (replace(two_skills, subpath="gone"), "gone")
    kept = (replace(two_skills, subpath="pdf"), "pdf")
    again = fetch_again([gone, kept])
    assert "any more" in str(again[gone])
    assert getattr(again[kept], "id", "") == "pdf"


def test_a_lone_skill_file_that_names_files_of_its_folder_is_a_warning(site, skill_md):
    body = "Read [the guide](guide.md), then:\n```\npython ./scripts/fill.py assets/a.json\n```\n"
    skill = fetch_source(url(site.put("/pdf/SKILL.md", skill_md("pdf", body=body).encode()))).skills[0]
    (finding,) = skill.findings
    assert (finding.severity, finding.code) == (Severity.WARNING, "reference-broken")
    assert finding.message.endswith(": scripts/fill.py, assets/a.json, guide.md.")


def test_a_lone_skill_file_that_names_no_files_is_fine(site, skill_md):
    assert fetch_source(url(site.put("/pdf/SKILL.md", skill_md("pdf").encode()))).skills[0].findings == ()


def test_an_empty_index_asks_strangers_to_sign_in(site):
    url = site.put("/.well-known/agent-skills/index.json", json.dumps({"skills": []}).encode())
    source = Source(kind=SourceKind.INDEX, location=url)
    for only in ((), ("pdf",)):
        with pytest.raises(NotFoundError) as caught:
            fetch_source(source, only=only)
        assert f"SKILLYARD_SERVER={site.url} and SKILLYARD_TOKEN" in caught.value.hint
    limits = DownloadLimits(credentials=Credentials(server=site.url, token="t"))
    with pytest.raises(NotFoundError) as caught:
        fetch_source(source, limits=limits)
    assert "SKILLYARD_TOKEN" not in caught.value.hint
