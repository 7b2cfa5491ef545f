"""The skill-creator's way: a skill is begun, filled, checked and packed on a computer, and fetched from there."""

import hashlib
import json
import shlex
from collections.abc import Sequence
from typing import Final

from skillyard.errors import InputError, UnavailableError
from skillyard.identity.principals import Principal
from skillyard.learning.skills.base64_text import normalize_and_decode_base64
from skillyard.learning.skills.command_runs import put_bundle
from skillyard.learning.skills.computers import Computer, Computers
from skillyard.learning.skills.skill_documents import SKILL, SkillDocuments
from skillyard.library.quick_validate import get_quick_validate_script
from skillyard.skill.archive import EVALS, read_archive
from skillyard.skill.bundle import SKILL_FILE, Bundle
from skillyard.skill.limits import MAX_ARCHIVE_BYTES

_WORK: Final = "skill_work"
_MADE: Final = "skill_made"
"""Beside whatever else the computer has, so that a skill of any name finds its place."""
_VALID: Final = "Skill is valid"
_PIECE: Final = 96 * 1024
"""Bytes that are fetched at once: what a server makes of them stays below what clients take."""
_SHOWN: Final = 1_000
_ABOUT: Final = (
    "import hashlib,json,sys; d=open(sys.argv[1],'rb').read();"
    "print(json.dumps({'size':len(d),'sha256':hashlib.sha256(d).hexdigest()}))"
)
_FETCH: Final = (
    "import base64,sys; f=open(sys.argv[1],'rb'); f.seek(int(sys.argv[2]));"
    "print(base64.b64encode(f.read(int(sys.argv[3]))).decode('ascii'),end='')"
)


class SkillCreator:
    """Makes skills in sessions. What fails in one is an error: there is no other way around it."""

    def __init__(self, computers: Computers, documents: SkillDocuments) -> None:
        self._computers = computers
        self._documents = documents

    async def guide(self) -> str:
        """How a skill is to be written."""
        return await self._documents.read(SKILL, SKILL_FILE)

    async def make(self, principal: Principal, name: str, new: Bundle, old: Bundle | None) -> None:
        """Have a skill validated and packed. What comes back must be what was sent."""
        documents = {
            "quick_validate.py": get_quick_validate_script(),
            "package_skill.py": await self._documents.read(SKILL, "scripts/package_skill.py"),
            "init_skill.py": await self._documents.read(SKILL, "scripts/init_skill.py"),
        }
        async with self._computers.session(principal) as computer:
            await computer.run_shell(f"mkdir -p {_WORK} {_MADE}")
            for path, text in documents.items():
                await computer.create_file(f"{_WORK}/{path}", text.encode())
            if old is None:
                await _begin(computer, name, new)
            await put_bundle(computer, new, f"{_MADE}/{name}")
            await _require(computer, [f"{_WORK}/quick_validate.py", f"{_MADE}/{name}"], says=_VALID)
            await _require(computer, [f"{_WORK}/package_skill.py", f"{_MADE}/{name}", _MADE])
            archive = await _fetched(computer, f"{_MADE}/{name}.skill")
        _require_same(archive, name, new)


async def _begin(computer: Computer, name: str, new: Bundle) -> None:
    """Begin a new skill, without the examples that come with it."""
    await _require(computer, [f"{_WORK}/init_skill.py", name, "--path", _MADE])
    folder = f"{_MADE}/{name}"
    begun = await computer.run_shell(f"find {shlex.quote(folder)} -type f")
    for path in [] if begun.exit_code else begun.output.splitlines():
        if new.get(path.removeprefix(f"{folder}/")) is None:
            await computer.delete_file(path)


async def _require(computer: Computer, program: Sequence[str], *, says: str = "") -> None:
    ran = await computer.run_shell(f"PYTHONDONTWRITEBYTECODE=1 python3 {shlex.join(program)}")
    if ran.exit_code or says not in ran.output:
        step = program[0].rpartition("/")[2].removesuffix(".py")
        raise InputError(
            f"{step} refused the skill: {ran.output.strip()[:_SHOWN] or f'it ended with {ran.exit_code}'}",
            hint="Change what it names.",
            details={"step": step, "exit_code": ran.exit_code},
        )


async def _fetched(computer: Computer, path: str) -> bytes:
    """A file as bytes, over the output of commands."""
    about = await computer.run_shell(f"python3 -c {shlex.quote(_ABOUT)} {shlex.quote(path)}")
    try:
        told = json.loads(about.output)
        size, sha256 = int(told["size"]), str(told["sha256"])
    except (ValueError, KeyError, TypeError):
        raise UnavailableError(f"There is no packed skill: {about.output[:_SHOWN]}") from None
    if size > MAX_ARCHIVE_BYTES:
        raise UnavailableError(f"The packed skill has {size:,} bytes; at most {MAX_ARCHIVE_BYTES:,} are taken.")
    data = b""
    while len(data) < size:
        command = f"python3 -c {shlex.quote(_FETCH)} {shlex.quote(path)} {len(data)} {_PIECE}"
        piece = normalize_and_decode_base64((await computer.run_shell(command)).output)
        if not piece:
            break
        data += piece
    if hashlib.sha256(data).hexdigest() != sha256:
        raise UnavailableError("The packed skill did not come back whole.", hint="Try again.")
    return data


def _require_same(archive: bytes, name: str, new: Bundle) -> None:
    """Refuses an archive of anything but what was sent. Evals are not packed."""
    read = read_archive(archive, filename=f"{name}.skill")
    came = {file.path: file.data for file in read.require() if not file.path.startswith(EVALS)}
    sent = {file.path: file.data for file in new if not file.path.startswith(EVALS)}
    other = sorted(path for path in sent.keys() | came.keys() if sent.get(path) != came.get(path))
    if read.folder != name or other:
        raise UnavailableError(
            f"The skill came back as another: {', '.join(other[:5]) or f'its folder is {read.folder!r}'}.",
            hint="Look at what the computer-use server does to files.",
        )
