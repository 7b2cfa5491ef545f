"""The skills of a source as files that a deepagents agent reads, and cannot change.

create_deep_agent(model=…, skills=["/skills/"], backend=mounted(source))
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import PurePosixPath
from typing import Final

from skillyard.agents.extra import missing_extra

try:
    from deepagents.backends import CompositeBackend, StateBackend
except ModuleNotFoundError as error:
    raise missing_extra(error) from error
from deepagents.backends.protocol import (
    PERMISSION_DENIED,
    BackendProtocol,
    DeleteResult,
    EditResult,
    FileDownloadResponse,
    FileInfo,
    FileUploadResponse,
    GlobResult,
    GrepMatch,
    GrepResult,
    LsResult,
    ReadResult,
    WriteResult,
)
from deepagents.backends.utils import InvalidGlobPatternError, compile_grep_include_glob

from skillyard.agents.deepagents_files import (
    FolderError,
    error_code,
    file_info,
    folder_info,
    listed_files,
    read_result,
    text_of,
)
from skillyard.agents.langchain_sessions import counted_in_session
from skillyard.agents.skill_folders import SkillFolders, SkillPath, missing
from skillyard.agents.source import Found, SkillSource
from skillyard.agents.tool import told
from skillyard.errors import NotFoundError, SkillyardError
from skillyard.library.assets import as_text
from skillyard.skill.bundle import SKILL_FILE
from skillyard.skill.paths import printable
from skillyard.usage.events import UsageKind

MOUNT: Final = "/skills/"
"""Where an agent finds the skills unless said otherwise."""
_READ_ONLY: Final = (
    "Skills are read-only here. Write your own files elsewhere; to change a skill, publish a new version."
)
_AT_ONCE: Final = 8
"""Files that are asked for at a time."""
_SEARCHED_SKILLS: Final = 50
"""Skills that one search through files looks into; `search_skills` finds the right ones among any number."""
_SEARCHED_BYTES: Final = 1_000_000
"""A file that is larger is not searched."""


class SkillsBackend(BackendProtocol):
    """One folder for each skill of the source, as it is now: what changes there is seen with the next call.

    `only` names the skills that are shown, all of them if it is None. A `SKILL.md` that is read counts as loaded
    in that `session`, by default the thread of the agent's conversation, by that `agent`. One that is downloaded, as
    deepagents does to list it, has fields that any list can show.
    """

    def __init__(
        self, source: SkillSource, *, only: Sequence[str] | None = None, session: str = "", agent: str = ""
    ) -> None:
        self._source = counted_in_session(source)
        self._folders = SkillFolders(source, only=only)
        self._session = session
        self._agent = agent

    def ls(self, path: str) -> LsResult:
        try:
            return LsResult(entries=self._entries(path))
        except SkillyardError as error:
            return LsResult(error=error_code(error))

    def read(self, file_path: str, offset: int = 0, limit: int = 2000) -> ReadResult:
        try:
            place = self._folders.at(file_path)
            data = self._data(place, file_path)
        except SkillyardError as error:
            return ReadResult(error=told(error))
        if place.inside == SKILL_FILE and place.skill is not None:
            if text_of(data) is None:  # instructions are a text, whatever they were written in
                data = as_text(data, errors="replace").encode()
            if offset <= 0:
                self._source.record(UsageKind.LOADED, place.skill, session=self._session, agent=self._agent)
        return read_result(file_path, data, offset, limit)

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        if len(paths) == 1:
            downloaded = [self._download(paths[0], None)]
        else:
            # Agents ask for every `SKILL.md` at once, and a yard may be far away.
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                downloaded = list(pool.map(self._download, paths, repeat(self._folders.all())))
        return listed_files([response for response, _ in downloaded], [folder for _, folder in downloaded])

    def glob(self, pattern: str, path: str | None = None) -> GlobResult:
        try:
            matches = compile_grep_include_glob(pattern)
            found = _Within(self._source, self._folders, path or "/")
            infos = [file_info(full, size=size) for full, size in found if matches(found.relative(full))]
        except InvalidGlobPatternError as error:
            return GlobResult(error=str(error))
        except SkillyardError as error:
            return GlobResult(error=told(error))
        return GlobResult(matches=infos, truncated=found.is_cut, truncation_reason="budget" if found.is_cut else None)

    def grep(
        self, pattern: str, path: str | None = None, glob: str | None = None, *, max_count: int | None = None
    ) -> GrepResult:
        try:
            found = _Within(self._source, self._folders, path or "/")
            wanted = compile_grep_include_glob(glob) if glob else None
            lines = self._lines(found, pattern, wanted)
            matches: list[GrepMatch] = []
            for match in lines:
                if max_count is not None and len(matches) >= max_count:
                    return GrepResult(matches=matches, truncated=True)
                matches.append(match)
        except InvalidGlobPatternError as error:
            return GrepResult(error=str(error))
        except SkillyardError as error:
            return GrepResult(error=told(error))
        return GrepResult(matches=matches, truncated=found.is_cut)

    def write(self, file_path: str, content: str) -> WriteResult:  # noqa: ARG002 -- nothing is written
        return WriteResult(error=_READ_ONLY)

    def edit(self, file_path: str, old_string: str, new_string: str, replace_all: bool = False) -> EditResult:  # noqa: ARG002 -- as above
        return EditResult(error=_READ_ONLY)

    def delete(self, file_path: str) -> DeleteResult:  # noqa: ARG002 -- as above
        return DeleteResult(error=_READ_ONLY)

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        return [FileUploadResponse(path=path, error=PERMISSION_DENIED) for path, _ in files]

    def _entries(self, path: str) -> list[FileInfo]:
        place = self._folders.at(path)
        if place.skill is None:
            return [folder_info(f"/{name}/") for name in self._folders.all()]
        prefix = f"{place.inside}/" if place.inside else ""
        here = f"/{place.folder}/{prefix}"
        found: dict[str, FileInfo] = {}
        for file in self._source.files(place.skill):
            if not file.path.startswith(prefix):
                continue
            name, slash, _ = file.path.removeprefix(prefix).partition("/")
            found[name] = folder_info(f"{here}{name}/") if slash else file_info(f"{here}{name}", size=file.size)
        if not found:
            raise missing(path)
        return [found[name] for name in sorted(found)]

    def _data(self, place: SkillPath, path: str) -> bytes:
        if place.skill is None or not place.inside:
            raise FolderError(f"{printable(path)!r} is a folder.", hint="List it, or read a file in it.")
        try:
            return self._source.file(place.skill, place.inside)
        except NotFoundError:
            inside = f"{place.inside}/"
            if any(file.path.startswith(inside) for file in self._source.files(place.skill)):
                raise FolderError(f"{printable(path)!r} is a folder.", hint="List it, or read a file in it.") from None
            raise

    def _download(self, path: str, known: Mapping[str, Found] | None) -> tuple[FileDownloadResponse, str | None]:
        """A file, and the folder of the skill whose main file it is."""
        try:
            place = self._folders.at(path, known)
            data = self._data(place, path)
        except SkillyardError as error:
            return FileDownloadResponse(path=path, error=error_code(error)), None
        return FileDownloadResponse(path=path, content=data), place.folder if place.inside == SKILL_FILE else None

    def _lines(self, found: "_Within", text: str, wanted: Callable[[str], bool] | None) -> Iterator[GrepMatch]:
        for path, size in found:
            if size > _SEARCHED_BYTES or (wanted is not None and not wanted(found.relative(path))):
                continue
            content = text_of(self._data(self._folders.at(path), path))
            for number, line in enumerate((content or "").splitlines(), start=1):
                if text in line:
                    yield GrepMatch(path=path, line=number, text=line)


def mounted(
    source: SkillSource,
    *,
    at: str = MOUNT,
    default: BackendProtocol | None = None,
    only: Sequence[str] | None = None,
    session: str = "",
    agent: str = "",
) -> CompositeBackend:
    """A backend with the skills at one path, and everything else in `default`: the agent's state unless given."""
    skills = SkillsBackend(source, only=only, session=session, agent=agent)
    return CompositeBackend(default=default or StateBackend(), routes={f"/{at.strip('/')}/": skills})


class _Within:
    """The files below a path, of so many skills at most, as paths and sizes."""

    def __init__(self, source: SkillSource, folders: SkillFolders, path: str) -> None:
        self.is_cut = False
        self._source = counted_in_session(source)
        self._folders = folders
        self._place = folders.at(path)
        inside = f"/{self._place.inside}" if self._place.inside else ""
        self._root = f"/{self._place.folder}{inside}".rstrip("/")

    def __iter__(self) -> Iterator[tuple[str, int]]:
        for number, (folder, skill) in enumerate(self._skills().items()):
            if number == _SEARCHED_SKILLS:
                self.is_cut = True
                return
            for file in self._source.files(skill):
                path = f"/{folder}/{file.path}"
                if path == self._root or path.startswith(f"{self._root}/"):
                    yield path, file.size

    def relative(self, path: str) -> str:
        """A path as patterns see it."""
        return path.removeprefix(self._root).lstrip("/") or PurePosixPath(path).name

    def _skills(self) -> Mapping[str, Found]:
        place = self._place
        return self._folders.all() if place.skill is None else {place.folder: place.skill}
