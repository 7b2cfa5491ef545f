"""What a change that was worked out does, as far as whoever looks may see it: files, a text, or rows of a table."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from skillyard.app.yard import Yard
from skillyard.errors import NotFoundError
from skillyard.identity.principals import Principal
from skillyard.learning.drafts import Draft
from skillyard.learning.proposal_diffs import table_lines
from skillyard.learning.states import Operation, Target
from skillyard.server.api.history_schemas import EntrySchema
from skillyard.server.web.rule_rows import compared, same_frame
from skillyard.skill.bundle import Bundle, BundleFile
from skillyard.skill.diff import diff_bundles

_NO_ROWS: Final[Mapping[str, Any]] = {"rules": []}


async def change_of(yard: Yard, principal: Principal, draft: Draft) -> dict[str, Any]:
    """`files` that differ; of a decision table `table` and its `rows` instead, where only those do."""
    if draft.operation is Operation.NOOP:
        return _told([])
    try:
        if draft.target is Target.SKILL:
            return _told(await _skill_files(yard, principal, draft))
        if draft.target is Target.MEMORY:
            before = await yard.learning.memories.get(principal, draft.target_id) if draft.target_id else None
            return _told(await _text_files(before.text if before else "", draft.content.get("text", "")))
        return await table_change(await _table_before(yard, principal, draft), draft.content.get("table"))
    except NotFoundError:
        return _told([])


async def state_change(entry: EntrySchema) -> dict[str, Any] | None:
    """What an entry of the history did to a rule or a memory; None where it tells of something else."""
    before, after = entry.before or {}, entry.after or {}
    if entry.subject.kind == "rule" and before.get("table") != after.get("table"):
        return await table_change(before.get("table"), after.get("table"))
    if entry.subject.kind == "memory" and before.get("text") != after.get("text"):
        return _told(await _text_files(before.get("text", ""), after.get("text", "")))
    return None


async def table_change(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> dict[str, Any]:
    """What differs between two tables: by rows where that tells all, else line by line."""
    shown = after or before
    if shown is not None and (before is None or after is None or same_frame(before, after)):
        return {"files": [], "table": shown, "rows": compared(before or _NO_ROWS, after or _NO_ROWS)}
    return _told(await _text_files(_lines(before), _lines(after)))


def _told(files: list[dict[str, Any]]) -> dict[str, Any]:
    return {"files": files, "table": None, "rows": []}


def _lines(table: Mapping[str, Any] | None) -> str:
    return "\n".join(table_lines(table)) if table else ""


async def _text_files(before: str, after: str) -> list[dict[str, Any]]:
    """Two texts as a file without a name that differs."""
    old, new = (Bundle([BundleFile("", text.encode())] if text else []) for text in (before, after))
    return await _files(old, new)


async def _skill_files(yard: Yard, principal: Principal, draft: Draft) -> list[dict[str, Any]]:
    if draft.target_id is not None:
        await yard.registry.shelf.get(principal, draft.target_id)  # whoever may not see it is told nothing
    digest = draft.content.get("digest")
    if digest is None and draft.operation is not Operation.DELETE:
        return []
    bundles = yard.registry.bundles
    old = await bundles.load(draft.base) if draft.base and draft.target_id is not None else Bundle(())
    return await _files(old, await bundles.load(digest) if digest else Bundle(()))


async def _files(old: Bundle, new: Bundle) -> list[dict[str, Any]]:
    return (await asyncio.to_thread(diff_bundles, old, new)).as_dict()["files"]


async def _table_before(yard: Yard, principal: Principal, draft: Draft) -> Mapping[str, Any] | None:
    if draft.target_id is None:
        return None
    rules = yard.learning.rules
    rule = await rules.get(principal, draft.target_id)
    versions = await rules.versions(principal, rule.id)
    return next((each.table for each in versions if each.version == draft.base), rule.document)
