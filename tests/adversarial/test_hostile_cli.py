"""Hostile folders, archives, names and settings met by the real commands, the server and the Python interface.

Each is answered with a typed code, within bounds of time and memory; its neighbour is still listed, and nothing
outside is touched.
"""

import io
import json
import os
import random
import signal
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from skillyard import FolderLibrary, SkillsManager, SkillyardError

SECONDS = 4
"""Of processor time: twice what is promised, for machines that are busy with other things."""
MEGABYTES = 200
MIB = 1024 * 1024
SECRET = "outside-secret"
SKILL = "---\nname: {name}\ndescription: Does {name} work for a neighbour.\n---\n{body}\n"
MARKS = "\u0301\u0323"

# A child's peak memory starts at that of the process that started it, so a small one stands in between.
LAUNCHER = """
import json, os, resource, sys
pid = os.fork()
if not pid:
    os.execv(sys.argv[2], sys.argv[2:])
_, status, used = os.wait4(pid, 0)
with open(sys.argv[1], "w") as file:
    json.dump([os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss / 1024], file)
"""


class Result(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def write_skill(root: Path, name: str, body: str = "Body", *, text: bytes | None = None) -> Path:
    folder = root / name
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_bytes(SKILL.format(name=name, body=body).encode() if text is None else text)
    return folder


@pytest.fixture
def yard(tmp_path):
    """A home, a project, a folder of skills with one good skill in it, and something outside."""
    for name in ("home", "project", "outside"):
        (tmp_path / name).mkdir()
    (tmp_path / "outside/secret").write_text(SECRET)
    write_skill(tmp_path / "outside", "away", SECRET)
    write_skill(tmp_path / "skills", "good")
    return tmp_path


@pytest.fixture
def environment(yard):
    return {"HOME": str(yard / "home"), "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}


@pytest.fixture
def ask(yard, environment):
    """Run a command; its answer, once it is sure that it came within bounds and without a crash."""
    outside = snapshot(yard / "outside")

    def _ask(*words: object) -> Result:
        command = [sys.executable, "-m", "skillyard", *map(str, words)]
        done = subprocess.run(
            [sys.executable, "-S", "-c", LAUNCHER, str(yard / "used"), *command],
            capture_output=True,
            cwd=yard / "project",
            env=environment,
            timeout=60,
            check=False,
        )
        code, seconds, megabytes = json.loads((yard / "used").read_text())
        result = Result(code, done.stdout.decode(), done.stderr.decode())
        assert 0 <= code <= 5, result
        assert "Traceback" not in result.out + result.err
        assert '"internal"' not in result.out[:200]
        assert "our mistake" not in result.err
        assert SECRET not in result.out + result.err
        assert seconds < SECONDS
        assert megabytes < MEGABYTES
        assert snapshot(yard / "outside") == outside
        return result

    return _ask


def snapshot(folder: Path) -> dict[str, tuple[int, int, int, bytes]]:
    """Everything about the files in a folder that reading them does not change."""
    found = {}
    for path in sorted([folder, *folder.rglob("*")]):
        status = path.lstat()
        content = path.read_bytes() if path.is_file() else b""
        found[str(path)] = (status.st_mode, status.st_mtime_ns, status.st_ctime_ns, content)
    return found


def bare(text: bytes):
    return lambda root, name, _: write_skill(root, name, text=text)


def front(fields: str, body: str = "Body") -> Any:
    return bare(f"---\n{fields}\n---\n{body}\n".encode())


def special(make) -> Any:
    return lambda root, name, _: ((root / name).mkdir(), make(root / name / "SKILL.md"))


def link(to: str) -> Any:
    return lambda root, name, outside: (root / name).symlink_to(to.format(outside=outside))


def link_file(to: str) -> Any:
    return lambda root, name, outside: (
        (root / name).mkdir(),
        (root / name / "SKILL.md").symlink_to(to.format(outside=outside)),
    )


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


FOLDERS: dict[str, tuple[Any, str]] = {
    "dangling": (link("nowhere"), "link-dangling"),
    "itself": (link("itself"), "link-dangling"),
    "up": (link(".."), "link-without-skill"),
    "rooted": (link("/"), "link-without-skill"),
    "away": (link("{outside}/away"), "link-outside"),
    "file-away": (link_file("{outside}/away/SKILL.md"), "link-outside"),
    "file-gone": (link_file("gone"), "link-dangling"),
    "file-device": (link_file("/dev/zero"), "link-outside"),
    "pipe": (special(os.mkfifo), "not-a-file"),
    "folder": (special(Path.mkdir), "not-a-file"),
    "terabyte": (special(sparse), "unreadable"),
    "bidi\u202egpj": (front("name: x\ndescription: y"), "folder-name-hidden"),
    "two\nlines": (front("name: x\ndescription: y"), "folder-name-hidden"),
    "\x1b[31mred": (front("name: x\ndescription: y"), "folder-name-hidden"),
    "nothing": (bare(b""), ""),
    "nul": (bare(b"\0" * MIB), ""),
    "utf-16": (bare("---\nname: x\n---\n".encode("utf-16")), ""),
    "zip": (bare(b"PK\3\4" + b"\0" * 1_000), ""),
    "laughs": (front("name: laughs\ndescription: x\na: &a [x]\nb: [*a, *a]"), ""),
    "brackets": (front("name: brackets\ndescription: " + "[" * 200_000), ""),
    "braces": (front("description: " + '{"a": ' * 40_000), ""),
    "twice": (front("name: a\nname: b\ndescription: x"), ""),
    "tag": (front("name: tag\ndescription: !!python/object/apply:os.system ['true']"), ""),
    "numbers": (front("name: numbers\nx: " + "9" * 200_000), ""),
    "stairs": (front("\n".join(" " * depth + "a:" for depth in range(600))), ""),
}
"""What is put in place of a skill, and the code it is listed with; the codes of a broken SKILL.md are left open."""


def make_folders(yard: Path) -> Path:
    root = yard / "skills"
    for name, (make, _) in FOLDERS.items():
        make(root, name, yard / "outside")
    return root


def test_every_hostile_folder_is_listed_as_a_problem_beside_its_neighbour(yard, ask):
    root = make_folders(yard)
    listed = ask("list", "--root", root, "--json").json
    assert [skill["id"] for skill in listed["skills"]] == ["good"]
    places = {}
    for problem in listed["problems"]:
        folder = problem["location"].removeprefix(f"{root}/").removesuffix("/SKILL.md")
        errors = [finding for finding in problem["findings"] if finding["severity"] == "error"]
        assert all(finding["fix"] for finding in errors)
        places[folder] = errors[0]["code"]
    assert set(places) == set(FOLDERS)
    assert {name: places[name] for name, (_, code) in FOLDERS.items() if code} == {
        name: code for name, (_, code) in FOLDERS.items() if code
    }


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("list", "--root", "{root}"), 0),
        (("find", "neighbour", "--root", "{root}"), 0),
        (("show", "good", "--root", "{root}"), 0),
        (("validate", "-r", "{root}"), 1),
        (("audit",), 1),
        (("doctor",), 0),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_every_command_gets_past_all_hostile_folders(yard, ask, words, code):
    root = make_folders(yard)
    (yard / "home/.claude").mkdir()
    root.rename(yard / "home/.claude/skills")
    answer = ask(*(word.format(root=yard / "home/.claude/skills") for word in words))
    assert answer.code == code
    assert "\x1b" not in answer.out
    assert "\u202e" not in answer.out
    if words[0] in {"list", "find", "show", "audit"}:
        assert "good" in answer.out


@pytest.mark.parametrize("name", ["away", "brackets", "terabyte"])
def test_asking_for_a_hostile_skill_says_what_is_wrong_with_it(yard, ask, name):
    FOLDERS[name][0](yard / "skills", name, yard / "outside")
    answer = ask("show", name, "--root", yard / "skills", "--json")
    assert answer.code == 1
    assert answer.json["error"]["code"] == "invalid_input"
    assert answer.json["error"]["details"]["findings"]


def zipped(*entries: tuple[str | zipfile.ZipInfo, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x/SKILL.md", SKILL.format(name="x", body=""))
        for name, data in entries:
            archive.writestr(name, data)
    return stream.getvalue()


def tarred(name: str, **fields: Any) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        text = SKILL.format(name="x", body="").encode()
        first = tarfile.TarInfo("x/SKILL.md")
        first.size = len(text)
        archive.addfile(first, io.BytesIO(text))
        member = tarfile.TarInfo(name)
        for field, value in fields.items():
            setattr(member, field, value)
        archive.addfile(member, io.BytesIO(b"\0" * member.size))
    return stream.getvalue()


def link_entry() -> zipfile.ZipInfo:
    info = zipfile.ZipInfo("x/link")
    info.external_attr = 0o120777 << 16
    return info


ARCHIVES = {
    "up.skill": (lambda: zipped(("../../escaped", b"x")), "path-escape"),
    "absolute.zip": (lambda: zipped(("/tmp/escaped", b"x")), "path-absolute"),
    "case.skill": (lambda: zipped(("x/A", b"1"), ("x/a", b"2")), "path-collision"),
    "form.skill": (lambda: zipped(("x/caf\u00e9", b"1"), ("x/cafe\u0301", b"2")), "path-collision"),
    "hidden.skill": (lambda: zipped(("x/a\u202eb", b"1")), "path-hidden"),
    "device.skill": (lambda: zipped(("x/nul.txt", b"1")), "path-reserved"),
    "link.skill": (lambda: zipped((link_entry(), b"/etc/passwd")), "link"),
    "bomb.skill": (lambda: zipped(("x/bomb", b"\0" * (64 * MIB))), None),
    "crowd.skill": (lambda: zipped(*((f"x/{number}", b"") for number in range(2_500))), "bundle-files"),
    "marks.skill": (lambda: zipped(*((f"x/{MARKS * 200}{n}", b"") for n in range(800))), "path-length"),
    "forged.skill": (lambda: zipped(("x/a", b"x" * 1_000))[:-30], None),
    "torn.zip": (lambda: b"PK\3\4" + b"\xff" * 5_000, None),
    "up.tar.gz": (lambda: tarred("../escaped"), "path-escape"),
    "link.tar.gz": (lambda: tarred("x/l", type=tarfile.SYMTYPE, linkname="/etc/passwd"), "link"),
    "device.tar.gz": (lambda: tarred("x/d", type=tarfile.CHRTYPE, devmajor=1, devminor=5), None),
    "bomb.tar.gz": (lambda: tarred("x/bomb", size=64 * MIB), None),
    "no.tar.gz": (lambda: b"\x1f\x8b" + b"\0" * 1_000, None),
}


def test_every_hostile_archive_is_refused_with_its_finding(yard, ask):
    for name, (make, _) in ARCHIVES.items():
        (yard / name).write_bytes(make())
    (yard / "fine.skill").write_bytes(zipped())
    answer = ask("validate", yard / "fine.skill", *(yard / name for name in ARCHIVES), "--json")
    assert answer.code == 1
    fine, *others = answer.json["results"]
    assert fine["valid"]
    for result in others:
        expected = ARCHIVES[Path(result["path"]).name][1]
        errors = [finding for finding in result["findings"] if finding["severity"] == "error"]
        if Path(result["path"]).name != "device.tar.gz":  # devices are passed over
            assert errors, result["path"]
        assert all(finding["fix"] for finding in errors)
        assert expected is None or expected in {finding["code"] for finding in errors}, result["path"]


@pytest.mark.parametrize("name", ["up.skill", "link.tar.gz"])
def test_nothing_of_a_hostile_archive_is_unpacked(yard, ask, name):
    (yard / name).write_bytes(ARCHIVES[name][0]())
    (yard / "out").mkdir()
    answer = ask("skill", "unpack", yard / name, "-o", yard / "out", "--json")
    assert answer.code == 1
    assert answer.json["error"]["code"] in {"invalid_input", "limit_exceeded"}
    assert list((yard / "out").iterdir()) == []
    assert not list(yard.rglob("escaped"))


def many_distinct_words(root: Path) -> None:
    for number in range(15):
        write_skill(root, f"w{number}", " ".join(f"w{number}x{word:x}" for word in range(95_000)))


def many_han(root: Path) -> None:
    rng = random.Random(1)
    for number in range(6):
        write_skill(root, f"h{number}", "".join(chr(rng.randrange(0x4E00, 0x9F00)) for _ in range(300_000)))


def many_empty_folders(root: Path) -> None:
    for number in range(8_000):
        (root / f"e{number}").mkdir()


def many_links(root: Path) -> None:
    for number in range(2_500):
        (root / f"l{number}").symlink_to("nowhere" if number % 2 else "good")


def many_broken(root: Path) -> None:
    for number in range(1_500):
        write_skill(root, f"b{number}", text=b"---\nname: [\n---\n")


CROWDS = {
    "words": (many_distinct_words, ("find", "neighbour")),
    "han": (many_han, ("find", "neighbour")),
    "empty": (many_empty_folders, ("list",)),
    "links": (many_links, ("list",)),
    "broken": (many_broken, ("list",)),
}


@pytest.mark.parametrize("crowd", CROWDS)
def test_the_neighbour_of_a_crowd_is_listed_within_bounds(yard, ask, crowd):
    make, words = CROWDS[crowd]
    make(yard / "skills")
    answer = ask(*words, "--root", yard / "skills")
    assert answer.code == 0
    assert "Does good work for a neighbour." in answer.out
    assert len(answer.out) < 2 * MIB


NAMES = ["a" * 100_000, MARKS * 20_000, "../../outside/away", "a\x1b[2Jb\u202e", " "]


@pytest.mark.parametrize("name", NAMES[:3], ids=range(3))
def test_a_hostile_name_is_refused_with_a_typed_error(yard, ask, name):
    shown = ask("show", name, "--root", yard / "skills", "--json")
    assert (shown.code, shown.json["error"]["code"]) == (3, "not_found")


@pytest.mark.parametrize("name", NAMES[1:3], ids=range(2))
def test_no_skill_is_made_under_a_hostile_name(yard, ask, name):
    assert ask("init", name, "--json").json["error"]["code"] == "invalid_input"
    assert list((yard / "project").iterdir()) == []


SETTINGS = {
    "home/.config/skillyard/config.toml": [
        b"a" + b".a" * 60_000,
        b"max_depth = " + b"9" * 5_000,
    ],
    "project/skillyard.toml": [b'roots = ["a\\u0000"]', b'home = "/"'],
}


@pytest.mark.parametrize(
    ("file", "data"), [(file, data) for file, texts in SETTINGS.items() for data in texts], ids=lambda _: ""
)
def test_hostile_settings_are_refused_and_named(yard, ask, file, data):
    (yard / file).parent.mkdir(parents=True, exist_ok=True)
    (yard / file).write_bytes(data)
    answer = ask("list", "--json")
    assert answer.code in {1, 4}
    assert answer.json["error"]["code"] in {"invalid_input", "not_allowed"}
    assert str(yard / file) in answer.json["error"]["message"]


@pytest.mark.parametrize("data", [b"[" * 200_000, b'{"version": 1, "skills": [null]}', b"\0\xff"])
def test_a_hostile_lock_is_refused_and_named(yard, ask, data):
    write_skill(yard / "project/.agents/skills", "good")
    lock = yard / "project/skillyard.lock"
    lock.write_bytes(data)
    answer = ask("skill", "check", "--json")
    assert answer.code == 1
    assert answer.json["error"]["code"] == "invalid_input"
    assert str(lock) in answer.json["error"]["message"]
    assert lock.read_bytes() == data


def test_a_scan_and_a_diff_of_large_hostile_files_stay_within_bounds(yard, ask):
    folder = write_skill(yard / "skills", "dense")
    (folder / "dots").write_bytes(b"." * (8 * MIB))
    assert ask("skill", "scan", folder).code == 0
    old, new = write_skill(yard / "old", "x"), write_skill(yard / "new", "x")
    for number in range(10):
        (old / f"f{number}").write_text("a\nb\nc\n" * 66)
        (new / f"f{number}").write_text("c\nb\na\n" * 66)
    assert ask("skill", "diff", old, new).code == 1


def test_the_server_answers_hostile_requests_and_goes_on(yard, environment):
    root = make_folders(yard)
    process = subprocess.Popen(
        [sys.executable, "-m", "skillyard", "serve", "--json", "--port", "0", "--root", str(root)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        cwd=yard / "project",
    )
    try:
        assert process.stdout
        url = json.loads(process.stdout.readline())["url"]
        with httpx.Client(base_url=f"{url}/api/v1/library", trust_env=False, timeout=60) as client:
            for path, status in {
                "/skills?q=" + "a" * 1_999: 200,
                "/skills?q=" + "%CC%81%CC%A3" * 900: 200,
                "/skills?q=" + "a" * 3_000: 422,
                "/skills?limit=99999999999999999999": 422,
                "/skills/%00": 422,
                "/skills/..%2F..%2Foutside": 404,
                "/skills/" + "a" * 10_000: 404,
                "/skills/away": 422,
                "/skills/brackets": 422,
                "/skills/good/files/..%2F..%2F..%2Foutside%2Fsecret": 404,
                "/skills/good/files/%2Fetc%2Fpasswd": 404,
            }.items():
                answer = client.get(path)
                assert answer.status_code == status, path[:80]
                assert SECRET not in answer.text
                assert status == 200 or answer.json()["error"]["code"]
            forged = {"Host": "evil.example", "X-Forwarded-For": "1.2.3.4", "Origin": "https://evil.example"}
            for header, value in forged.items():
                assert client.get("/skills", headers={header: value}).status_code == 403
            assert [skill["id"] for skill in client.get("/skills").json()["data"]] == ["good"]
        status = Path(f"/proc/{process.pid}/status")
        if status.exists():
            peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
            assert int(peak.split()[1]) / 1024 < MEGABYTES
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


def test_the_python_interface_raises_typed_errors_only(yard):
    root = make_folders(yard)
    manager = SkillsManager(root, errors="raise")
    assert manager.list_skills() == ["good"]
    assert [found["name"] for found in manager.search_skills("neighbour")] == ["good"]
    for name in (*NAMES, *FOLDERS):
        with pytest.raises(SkillyardError):
            manager.get_skill_content(name)
    for path in (
        "../../outside/secret",
        "/etc/passwd",
        "references/../../secret",
        "a\0b",
        "references/" + "a" * 10_000,
    ):
        with pytest.raises(SkillyardError):
            manager.get_skill_asset("good", path)
    (entry,) = FolderLibrary(root).catalog().entries
    assert entry.id == "good"
