"""The names of a skill server: find skills for a task, read any of their files, list them."""

import base64
import fnmatch
import json
import mimetypes
from collections.abc import Sequence
from typing import Annotated, Any, Final

from pydantic import Field

from skillyard.agents.source import MAX_HITS, Found, SkillFile, SkillHit, SkillSource, require, texts
from skillyard.agents.tool import Answer, Tool, told
from skillyard.agents.toolsets.bounds import MAX_TEXT, cut, picked, window
from skillyard.agents.toolsets.yard_tool import yard_tool
from skillyard.errors import FileMissingError, LimitError, SkillyardError
from skillyard.library.searching import document_of
from skillyard.search import SkillIndex
from skillyard.skill.bundle import SKILL_FILE
from skillyard.skill.limits import MAX_DESCRIPTION
from skillyard.skill.names import nearest_name
from skillyard.skill.prompt import shortened
from skillyard.usage.events import UsageKind

MAX_FILE: Final = 1024 * 1024
"""Bytes of a file that is no text and comes within an answer."""
_MAX_MATCHES: Final = 20
"""Files that one pattern reads."""
_MAX_ALLOWED: Final = 100
"""Skills that one search may be limited to."""
_LISTED: Final = 200
_BRIEF: Final = 400
"""Characters of a description in a list."""
_TEXT_OF_ALL: Final = 60_000
"""Characters of all skills that are found together."""
_DOCUMENTS_SHARE: Final = 4
"""The list of its files may take this part of what one of them has."""
_GLOB: Final = frozenset("*?[")


def skill_server_tools(source: SkillSource, *, session: str = "", agent: str = "") -> list[Tool]:
    """Skills of a source as a skill server gives them; `session` and `agent` say whose use is counted."""
    server = SkillServer(source, session=session, agent=agent)
    return [yard_tool(server.find_helpful_skills), yard_tool(server.read_skill_document), yard_tool(server.list_skills)]


class SkillServer:
    """What is asked of a skill server, answered by any source of skills."""

    def __init__(self, source: SkillSource, *, session: str = "", agent: str = "") -> None:
        self._source = source
        self._who: Any = {"session": session, "agent": agent}

    def find_helpful_skills(
        self,
        task_description: Annotated[str, Field(description="What you are about to do, in any language.", min_length=1)],
        top_k: Annotated[int, Field(description="At most so many.", ge=1, le=20)] = 3,
        list_documents: Annotated[bool, "Also list the other files of each skill."] = True,
        allowed_skill_names: Annotated[
            list[str], Field(description="Only of these skills.", max_length=_MAX_ALLOWED)
        ] = [],  # noqa: B006
        tenant_id: Annotated[str, "Not needed: your token says whose skills you see."] = "",  # noqa: ARG002
    ) -> Answer:
        """Find the skills that help with a task, best first, each with its whole instructions. Do this first."""
        hits = self._hits(task_description, top_k, allowed_skill_names)
        if not hits:
            return "No skill fits that task. list_skills shows what there is."
        room = _TEXT_OF_ALL // len(hits)
        found = [
            self._told(rank, hit, text, room, list_documents=list_documents)
            for rank, (hit, text) in enumerate(
                zip(hits, texts(self._source, [hit.skill for hit in hits]), strict=True), 1
            )
        ]
        answer: dict[str, Any] = {"skills": found}
        return answer

    def read_skill_document(
        self,
        skill_name: Annotated[str, Field(description="The skill, as it was listed or found.", min_length=1)],
        document_path: Annotated[
            str | None, "A file, such as scripts/fill.py, or a pattern, such as references/*.md; none: list the files."
        ] = None,
        include_base64: Annotated[bool, "Answer with the bytes of a file that is no text."] = False,
        offset: Annotated[int, Field(description="Of a long text: the character to begin at.", ge=0)] = 0,
    ) -> Answer:
        """Read any file of a skill: instructions, references, scripts, assets."""
        skill = require(self._source, skill_name)
        files = self._source.files(skill)
        if not document_path:
            listing: dict[str, Any] = {"skill_name": skill.id, "documents": _paths(files)}
            return listing
        path = _plain(document_path)
        named = next((file for file in files if file.path == path), None)
        if named is None and path.lower() == SKILL_FILE.lower():
            named = next((file for file in files if file.path.lower() == path.lower()), None)
        if named is not None:
            self._count(skill, named.path)
            return self._one(skill, named, include_base64=include_base64, offset=offset)
        matching = [file for file in files if fnmatch.fnmatchcase(file.path, path)] if _GLOB & set(path) else []
        if not matching:
            raise _no_document(skill, path, files)
        self._count(skill, *(file.path for file in matching))
        return self._several(skill, matching, include_base64=include_base64)

    def list_skills(
        self,
        cursor: Annotated[str, "Where the last answer ended: its next_cursor."] = "",
        limit: Annotated[int, Field(ge=1, le=200)] = 100,
    ) -> Answer:
        """All skills there are, a page at a time, by name."""
        page = self._source.page(cursor, limit)
        rows = [
            {"skill_name": each.id, "description": shortened(each.description, _BRIEF), **_version(each)}
            for each in page.skills
        ]
        answer: dict[str, Any] = {"skills": rows, "source": self._source.label}
        return answer | ({"next_cursor": page.next_cursor} if page.next_cursor else {})

    def _hits(self, task: str, top_k: int, names: Sequence[str]) -> list[SkillHit]:
        """What fits a task best; of the skills of those names, if there are any."""
        if not names:
            return self._source.search(task, top_k)
        allowed = {found.id: found for name in names if (found := self._source.find(name.strip())) is not None}
        best = [hit for hit in self._source.search(task, MAX_HITS) if hit.skill.id in allowed][:top_k]
        # Among very many skills those that are allowed may fit less than the first hits of all.
        others = [each for key, each in allowed.items() if key not in {hit.skill.id for hit in best}]
        if len(best) == top_k or not others:
            return best
        bodies = (text if isinstance(text, str) else "" for text in texts(self._source, others))
        documents = (document_of(each.entry, body) for each, body in zip(others, bodies, strict=True))
        more = SkillIndex.of(documents).search(task, limit=top_k - len(best)).hits
        return [*best, *(SkillHit(skill=allowed[hit.key], score=hit.score, snippet=hit.snippet) for hit in more)]

    def _told(
        self, rank: int, hit: SkillHit, text: str | SkillyardError, room: int, *, list_documents: bool
    ) -> dict[str, Any]:
        """A skill that was found, in so many characters. One that cannot be read says why, and was not loaded."""
        skill = hit.skill
        row: dict[str, Any] = {"rank": rank, "skill_name": skill.id, "score": round(hit.score, 4)}
        row |= {"description": shortened(skill.description, MAX_DESCRIPTION), **_version(skill)}
        try:
            if isinstance(text, SkillyardError):
                raise text
            if list_documents:
                row["documents"] = _paths(self._source.files(skill), room // _DOCUMENTS_SHARE)
        except SkillyardError as error:
            return row | {"error": told(error)}
        self._source.record(UsageKind.LOADED, skill, **self._who)
        left = room - _size(row)
        return row | {"content": cut(text, left, more="; read_skill_document reads all of it")}

    def _count(self, skill: Found, *paths: str) -> None:
        """Who reads its instructions loads a skill; who reads another of its files puts it to use."""
        kind = UsageKind.LOADED if SKILL_FILE in paths else UsageKind.ACTIVATED
        self._source.record(kind, skill, **self._who)

    def _one(self, skill: Found, file: SkillFile, *, include_base64: bool, offset: int) -> Answer:
        text = _text(self._source.file(skill, file.path)) if file.size <= MAX_FILE * 4 else None
        if text is not None:
            return window(text, offset)
        return self._bytes(skill, file, include_base64=include_base64)

    def _several(self, skill: Found, files: Sequence[SkillFile], *, include_base64: bool) -> Answer:
        some = files[:_MAX_MATCHES]
        room = MAX_TEXT // len(some)
        documents: list[dict[str, Any]] = []
        for file in some:
            text = _text(self._source.file(skill, file.path)) if file.size <= MAX_FILE else None
            more = "; read it by its own path"
            # The bytes of many files at once would be more than anyone takes.
            documents.append(
                {"path": file.path, "content": cut(text, room, more=more)}
                if text is not None
                else self._bytes(skill, file, include_base64=include_base64 and len(some) == 1)
            )
        answer: dict[str, Any] = {"skill_name": skill.id, "documents": documents}
        if len(some) < len(files):
            answer["shown"] = f"{len(some)} of {len(files)}; name the others by their paths"
        return answer

    def _bytes(self, skill: Found, file: SkillFile, *, include_base64: bool) -> dict[str, Any]:
        kind = mimetypes.guess_type(file.path)[0] or "application/octet-stream"
        row: dict[str, Any] = {"path": file.path, "size": file.size, "mime_type": kind}
        if not include_base64:
            return row | {"note": "It is no text. Its bytes come with include_base64=true."}
        if file.size > MAX_FILE:
            raise LimitError(
                f"{file.path} has {file.size:,} bytes; at most {MAX_FILE:,} fit into an answer.",
                hint="Use it where the skill is: create_sandbox with skills has it in /workspace/skills.",
                details={"field": "document_path", "value": file.size, "limit": MAX_FILE},
            )
        return row | {"content_base64": base64.b64encode(self._source.file(skill, file.path)).decode()}


def _version(skill: Found) -> dict[str, str]:
    return {"version": skill.version} if skill.version else {}


def _paths(files: Sequence[SkillFile], room: int = _TEXT_OF_ALL) -> list[dict[str, Any]]:
    """The files, as many as have room in so many characters."""
    rows: list[dict[str, Any]] = []
    for file in files[:_LISTED]:
        row = {"path": file.path, "size": file.size, **picked({"executable": file.executable or None}, "executable")}
        room -= _size(row)
        if room < 0:
            break
        rows.append(row)
    if len(rows) < len(files):
        rows.append({"path": f"… and {len(files) - len(rows)} more", "size": 0})
    return rows


def _size(row: dict[str, Any]) -> int:
    return len(json.dumps(row, ensure_ascii=False))


def _plain(path: str) -> str:
    return path.strip().replace("\\", "/").removeprefix("./")


def _text(data: bytes) -> str | None:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _no_document(skill: Found, path: str, files: Sequence[SkillFile]) -> FileMissingError:
    paths = [file.path for file in files]
    near = nearest_name(path, paths)
    some = ", ".join(paths[:20]) + (" …" if len(paths) > 20 else "")  # noqa: PLR2004 -- as before it
    return FileMissingError(
        f"The skill {skill.id!r} has no file {path[:200]!r}.",
        hint=f"Did you mean {near!r}? Its files: {some}" if near else f"Its files: {some}",
        details={"field": "document_path", "value": path[:200]},
    )
