import os
import socket
import stat
import subprocess
from pathlib import Path

import pytest

from skillyard.delivery.download import DownloadLimits
from skillyard.delivery.fetch import fetch_again, fetch_source
from skillyard.delivery.source import Source, SourceKind
from skillyard.delivery.source_text import parse_source
from skillyard.errors import ConflictError, LimitError, NotAllowedError, NotFoundError, UnavailableError


def of(repository, **fields: str) -> Source:
    return Source(kind=SourceKind.GIT, location=f"file://{repository.path}", **fields)


def test_every_skill_of_a_repository_is_found_with_its_commit(make_repository, skill_md):
    repository = make_repository(
        {
            "README.md": "x",
            "skills/pdf/SKILL.md": skill_md("pdf"),
            "skills/pdf/a.txt": "a",
            "x/y/SKILL.md": skill_md("y"),
        }
    )
    fetched = fetch_source(of(repository))
    assert [(skill.id, skill.source.subpath) for skill in fetched.skills] == [("pdf", "skills/pdf"), ("y", "x/y")]
    assert {skill.resolved for skill in fetched.skills} == {repository.git("rev-parse", "HEAD")}
    assert [file.path for file in fetched.skills[0].bundle] == ["SKILL.md", "a.txt"]


def test_a_repository_that_is_a_skill_is_one_skill_with_all_its_files(make_repository, skill_md):
    repository = make_repository(
        {"SKILL.md": skill_md("tool"), "skills/inner/SKILL.md": skill_md("inner")}, name="tool-repo"
    )
    fetched = fetch_source(of(repository))
    assert [skill.id for skill in fetched.skills] == ["tool"]
    assert fetched.skills[0].bundle.get("skills/inner/SKILL.md")


def test_the_bytes_are_those_of_the_commit_whatever_this_machine_would_check_out(make_repository, skill_md):
    files = {
        "SKILL.md": skill_md("pdf"),
        ".gitattributes": "*.txt text eol=crlf ident\n* filter=evil\n",
        "a.txt": "one\ntwo $Id$\n",
        "b.bin": bytes(range(256)),
    }
    repository = make_repository(files)
    bundle = fetch_source(of(repository)).skills[0].bundle
    assert bundle.get("a.txt").data == b"one\ntwo $Id$\n"
    assert bundle.get("b.bin").data == bytes(range(256))


def test_executable_files_stay_executable(make_repository, skill_md):
    repository = make_repository({"SKILL.md": skill_md("pdf"), "scripts/run.sh": "#!/bin/sh\n"})
    script = repository.path / "scripts/run.sh"
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    repository.commit({})
    bundle = fetch_source(of(repository)).skills[0].bundle
    assert bundle.get("scripts/run.sh").executable
    assert not bundle.get("SKILL.md").executable


def test_a_branch_a_tag_a_commit_and_a_short_commit_are_found(make_repository, skill_md):
    repository = make_repository({"SKILL.md": skill_md("pdf", body="one\n")})
    first = repository.git("rev-parse", "HEAD")
    repository.git("tag", "-a", "v1", "-m", "one")
    repository.git("branch", "feature/x")
    repository.commit({"SKILL.md": skill_md("pdf", body="two\n")})
    for ref in ("v1", "feature/x", first, first[:8]):
        skill = fetch_source(of(repository, ref=ref)).skills[0]
        assert skill.resolved == first
        assert b"one" in skill.bundle.get("SKILL.md").data


@pytest.mark.parametrize("ref", ["nowhere", "0" * 40, "abcdef12"])
def test_a_ref_that_is_nowhere_is_not_found(make_repository, skill_md, ref: str):
    repository = make_repository({"SKILL.md": skill_md("pdf")})
    with pytest.raises(NotFoundError, match=ref):
        fetch_source(of(repository, ref=ref))


def test_a_repository_that_is_nowhere_is_unavailable(tmp_path: Path):
    with pytest.raises(UnavailableError, match="could not be fetched"):
        fetch_source(Source(kind=SourceKind.GIT, location=f"file://{tmp_path}/nowhere"))


def test_one_folder_of_a_repository_is_fetched(make_repository, skill_md):
    repository = make_repository(
        {"SKILL.md": skill_md("top"), "skills/a/SKILL.md": skill_md("a"), "b/SKILL.md": skill_md("b")}
    )
    assert [skill.id for skill in fetch_source(of(repository, subpath="skills")).skills] == ["a"]
    assert [skill.id for skill in fetch_source(of(repository, subpath="skills/a")).skills] == ["a"]
    with pytest.raises(NotFoundError, match="no folder 'nowhere'"):
        fetch_source(of(repository, subpath="nowhere"))


@pytest.mark.parametrize("wanted", ["beta", "BETA", "skills/two", "two"])
def test_one_skill_of_several_is_chosen_by_name_or_folder(make_repository, skill_md, wanted: str):
    repository = make_repository({"skills/one/SKILL.md": skill_md("alpha"), "skills/two/SKILL.md": skill_md("beta")})
    assert [skill.id for skill in fetch_source(of(repository), only=[wanted]).skills] == ["beta"]


def test_a_name_that_no_skill_has_is_not_found(make_repository, skill_md):
    repository = make_repository({"skills/one/SKILL.md": skill_md("alpha")})
    with pytest.raises(NotFoundError, match="no skill gamma") as caught:
        fetch_source(of(repository), only=["gamma"])
    assert caught.value.hint == "It has: alpha."


def test_one_name_of_several_that_no_skill_has_refuses_them_all(make_repository, skill_md):
    repository = make_repository({"skills/one/SKILL.md": skill_md("alpha"), "skills/two/SKILL.md": skill_md("beta")})
    with pytest.raises(NotFoundError, match="no skill betta;") as caught:
        fetch_source(of(repository), only=["alpha", "betta"])
    assert caught.value.hint == "Did you mean 'beta'? It has: alpha, beta."


def test_a_repository_without_skills_says_so(make_repository):
    with pytest.raises(NotFoundError, match="no folder there holds"):
        fetch_source(of(make_repository({"README.md": "x"})))


def test_a_link_in_a_skill_refuses_that_skill_only(make_repository, skill_md):
    repository = make_repository({"bad/SKILL.md": skill_md("bad"), "good/SKILL.md": skill_md("good")})
    (repository.path / "bad" / "passwd").symlink_to("/etc/passwd")
    (repository.path / "linked").symlink_to("good")
    repository.commit({})
    fetched = fetch_source(of(repository))
    assert [skill.id for skill in fetched.skills] == ["good"]
    assert [(skill.id, skill.findings[0].code) for skill in fetched.refused] == [("bad", "link")]


def test_a_broken_skill_is_refused_with_its_findings(make_repository, skill_md):
    repository = make_repository({"bad/SKILL.md": "no frontmatter", "good/SKILL.md": skill_md("good")})
    fetched = fetch_source(of(repository))
    assert [skill.id for skill in fetched.skills] == ["good"]
    assert [finding.code for finding in fetched.refused[0].findings] == ["frontmatter-missing"]


def test_names_that_collide_on_other_disks_refuse_the_skill(make_repository, skill_md):
    repository = make_repository({"SKILL.md": skill_md("pdf"), "Notes.md": "a", "notes.md": "b"})
    assert "path-collision" in {finding.code for finding in fetch_source(of(repository)).refused[0].findings}


def test_submodules_are_not_fetched(make_repository, skill_md, tmp_path: Path):
    inner = make_repository({"secret": "x"}, name="inner")
    outer = make_repository({"SKILL.md": skill_md("pdf")}, name="outer")
    outer.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.path), "vendored")
    outer.commit({})
    assert [file.path for file in fetch_source(of(outer)).skills[0].bundle] == [".gitmodules", "SKILL.md"]


def test_nothing_in_the_repository_or_the_environment_runs(make_repository, skill_md, tmp_path: Path, monkeypatch):
    repository = make_repository({"SKILL.md": skill_md("pdf"), ".gitattributes": "* filter=evil diff=evil\n"})
    witness = tmp_path / "ran"
    script = tmp_path / "hook.sh"
    script.write_text(f"#!/bin/sh\ntouch {witness}\ncat\n")
    script.chmod(0o755)
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for hook in ("post-checkout", "post-merge", "reference-transaction", "post-index-change"):
        (hooks / hook).symlink_to(script)
    settings = tmp_path / "gitconfig"
    settings.write_text(
        f"[core]\n\thooksPath = {hooks}\n\tfsmonitor = {script}\n\taskPass = {script}\n"
        f'[filter "evil"]\n\tsmudge = {script}\n\tclean = {script}\n'
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(script))
    assert fetch_source(of(repository)).skills[0].id == "pdf"
    assert not witness.exists()


def test_a_local_repository_cannot_send_git_to_another_protocol(make_repository, skill_md, tmp_path: Path, monkeypatch):
    repository = make_repository({"SKILL.md": skill_md("pdf")})
    witness = tmp_path / "ran"
    settings = tmp_path / "gitconfig"
    settings.write_text(f'[protocol "ext"]\n\tallow = always\n[url "ext::touch {witness} "]\n\tinsteadOf = file://\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    with pytest.raises(UnavailableError, match="not allowed"):
        fetch_source(of(repository))
    assert not witness.exists()


def test_option_injection_does_not_reach_git(tmp_path: Path):
    witness = tmp_path / "ran"
    for text in (
        f"--upload-pack=touch {witness}",
        f"git+file:///x#--upload-pack=touch${{IFS}}{witness}",
        f"ext::touch {witness}",
    ):
        with pytest.raises(Exception, match=r"."):
            fetch_source(parse_source(text, cwd=tmp_path))
    assert not witness.exists()


def test_without_git_the_command_that_installs_it_is_named(make_repository, skill_md, monkeypatch):
    repository = make_repository({"SKILL.md": skill_md("pdf")})
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UnavailableError, match="not installed") as caught:
        fetch_source(of(repository))
    assert "install" in caught.value.hint


def test_git_over_plain_http_is_refused():
    with pytest.raises(NotAllowedError, match="plain http"):
        fetch_source(Source(kind=SourceKind.GIT, location="http://example.invalid/r.git"))


def test_git_that_takes_too_long_is_stopped(make_repository, skill_md, tmp_path: Path, monkeypatch):
    repository = make_repository({"SKILL.md": skill_md("pdf")})
    slow = tmp_path / "bin"
    slow.mkdir()
    (slow / "git").write_text("#!/bin/sh\nexec sleep 60\n")
    (slow / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow}:{os.environ['PATH']}")
    with pytest.raises(UnavailableError, match="too long"):
        fetch_source(of(repository), limits=DownloadLimits(max_seconds=0.1))


def test_a_repository_over_the_limit_is_given_up(make_repository, skill_md, monkeypatch):
    monkeypatch.setattr("skillyard.delivery.git_process.MAX_REPOSITORY_BYTES", 100_000)
    repository = make_repository({"SKILL.md": skill_md("pdf"), "big": os.urandom(200_000)})
    with pytest.raises(LimitError, match="larger than the limit"):
        fetch_source(of(repository))


def test_a_tree_of_too_many_files_is_given_up(make_repository, skill_md, monkeypatch):
    monkeypatch.setattr("skillyard.delivery.git.MAX_REPOSITORY_FILES", 3)
    repository = make_repository({"SKILL.md": skill_md("pdf"), "a": "", "b": "", "c": ""})
    with pytest.raises(LimitError, match="4 files"):
        fetch_source(of(repository))


def test_a_skill_with_too_many_files_is_refused_unread(make_repository, skill_md, monkeypatch):
    monkeypatch.setattr("skillyard.delivery.fetch_git.MAX_BUNDLE_FILES", 2)
    repository = make_repository({"s/SKILL.md": skill_md("pdf"), "s/a": "", "s/b": "", "t/SKILL.md": skill_md("t")})
    fetched = fetch_source(of(repository))
    assert [skill.id for skill in fetched.skills] == ["t"]
    assert fetched.refused[0].findings[0].code == "bundle-files"


def test_a_large_file_pointer_is_a_warning(make_repository, skill_md):
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    repository = make_repository({"SKILL.md": skill_md("pdf"), "data.bin": pointer})
    assert "git-lfs-pointer" in {finding.code for finding in fetch_source(of(repository)).skills[0].findings}


def test_of_two_skills_with_one_name_the_plain_folder_wins_and_the_other_is_named(make_repository, skill_md):
    repository = make_repository(
        {
            ".claude/skills/pdf/SKILL.md": skill_md("pdf", body="old\n"),
            "skills/pdf/SKILL.md": skill_md("pdf", body="new\n"),
        }
    )
    fetched = fetch_source(of(repository))
    assert [skill.source.subpath for skill in fetched.skills] == ["skills/pdf"]
    assert fetched.refused[0].findings[0].code == "skill-duplicate"
    assert ".claude/skills/pdf" in fetched.refused[0].findings[0].fix


def test_the_same_skill_twice_is_one(make_repository, skill_md):
    repository = make_repository(
        {".claude/skills/pdf/SKILL.md": skill_md("pdf"), "skills/pdf/SKILL.md": skill_md("pdf")}
    )
    fetched = fetch_source(of(repository))
    assert (len(fetched.skills), fetched.refused) == (1, ())


def test_a_tree_digest_pins_one_skill(make_repository, skill_md):
    repository = make_repository({"a/SKILL.md": skill_md("a"), "b/SKILL.md": skill_md("b")})
    digest = fetch_source(of(repository), only=["a"]).skills[0].bundle.digest
    assert fetch_source(of(repository, digest=digest), only=["a"]).skills
    with pytest.raises(ConflictError, match="does not match"):
        fetch_source(of(repository, digest=digest), only=["b"])


def test_several_skills_are_fetched_again_with_one_clone(make_repository, skill_md, monkeypatch):
    repository = make_repository(
        {"SKILL.md": skill_md("top"), "a/SKILL.md": skill_md("a"), "b/SKILL.md": skill_md("b")}
    )
    fetches: list[list[str]] = []
    popen = subprocess.Popen

    def counting(command: list[str], **options: object) -> object:
        fetches.extend([command] if "fetch" in command else [])
        return popen(command, **options)

    monkeypatch.setattr(subprocess, "Popen", counting)
    skills = [(of(repository, subpath=folder), skill_id) for folder, skill_id in (("", "top"), ("a", "a"), ("b", "b"))]
    found = fetch_again(skills)
    assert [found[skill].id for skill in skills] == ["top", "a", "b"]
    assert len(fetches) == 1


def test_a_skill_that_moved_is_found_again_by_its_id_and_one_that_is_gone_is_not(make_repository, skill_md):
    repository = make_repository({"skills/a/SKILL.md": skill_md("a"), "skills/b/SKILL.md": skill_md("b")})
    moved, gone = (of(repository, subpath="old/a"), "a"), (of(repository, subpath="old/c"), "c")
    found = fetch_again([moved, gone])
    assert found[moved].source.subpath == "skills/a"
    assert isinstance(found[gone], NotFoundError)


def test_the_reason_that_ssh_gives_is_told():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    source = Source(kind=SourceKind.GIT, location=f"ssh://git@127.0.0.1:{port}/x")
    with pytest.raises(UnavailableError, match="Connection refused") as caught:
        fetch_source(source)
    assert "access rights" not in caught.value.message
