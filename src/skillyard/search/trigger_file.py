"""A person's own file of prompts, each with the skills that should and should not be found for it.

Four kinds are read: JSON lines, one JSON list, the `evals.json` of a skill, and CSV with a header. A record that cannot
be used is a finding with its line; the others count.
"""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, cast

from skillyard.errors import LimitError
from skillyard.skill.models import Finding, Severity

MAX_BYTES: Final = 16 * 1024 * 1024
MAX_PROMPTS: Final = 10_000
MAX_PROMPT: Final = 20_000
"""Characters; search reads no more of a query."""
_YES: Final = frozenset({"true", "yes", "y", "1"})
_NO: Final = frozenset({"false", "no", "n", "0"})
_EVALS: Final = re.compile(r'"evals"\s*:\s*\[')
_FIX: Final = (
    'Write {"prompt": "…", "should": "NAME"}, or "should_not", or "skill" with "should_trigger": true or false.'
)


@dataclass(frozen=True, kw_only=True, slots=True)
class TriggerPrompt:
    """A prompt and what is expected of it."""

    line: int
    text: str
    should: tuple[str, ...] = ()
    should_not: tuple[str, ...] = ()

    @property
    def wants_nothing(self) -> bool:
        """Whether no skill at all should be found."""
        return not self.should and not self.should_not


class TriggerFile(NamedTuple):
    prompts: tuple[TriggerPrompt, ...]
    findings: tuple[Finding, ...]


class _Record(NamedTuple):
    line: int
    fields: Mapping[str, Any]


class _BadRecordError(Exception):
    """What is wrong with one record; it becomes a finding."""

    def __init__(self, code: str, message: str, fix: str = _FIX, *, line: int = 0) -> None:
        super().__init__(message)
        self.code, self.message, self.fix, self.line = code, message, fix, line


def read_triggers(data: bytes, *, file: str, skill: str = "") -> TriggerFile:
    """The prompts of a file, those of the same text as one. `skill` is meant where a record names none."""
    if len(data) > MAX_BYTES:
        raise LimitError(
            f"{file} has {len(data):,} bytes; at most {MAX_BYTES:,} are read.",
            hint="Split it.",
            details={"field": "file", "value": len(data), "limit": MAX_BYTES},
        )
    prompts: dict[str, TriggerPrompt] = {}
    findings: list[Finding] = []
    text = data.decode("utf-8-sig", "surrogateescape")
    for record in _csv_records(text) if file.casefold().endswith(".csv") else _json_records(text, skill):
        try:
            if isinstance(record, _BadRecordError):
                raise record
            prompt = _prompt(record, skill)
            known = prompts.get(prompt.text)
            joined = _joined(known, prompt) if known else prompt
            if known is None and len(prompts) == MAX_PROMPTS:
                raise _BadRecordError(
                    "too-many", f"Only the first {MAX_PROMPTS:,} prompts are read.", "Split the file."
                )
            prompts[prompt.text] = joined
        except _BadRecordError as bad:
            findings.append(
                Finding(
                    code=bad.code,
                    severity=Severity.ERROR,
                    message=bad.message,
                    fix=bad.fix,
                    file=file,
                    line=record.line,
                )
            )
            if bad.code == "too-many":
                break
    return TriggerFile(tuple(prompts.values()), tuple(findings))


def _json_records(text: str, skill: str) -> Iterator[_Record | _BadRecordError]:
    if text.lstrip().startswith("["):
        yield from _list_records(text)
    elif text.lstrip().partition("\n")[0].strip() == "{" or _EVALS.search(text):
        # One object over several lines: a file of evals, or something else, and one finding says so.
        yield from _evals_records(text, skill)
    else:
        yield from _line_records(text)


def _evals_records(text: str, skill: str) -> Iterator[_Record | _BadRecordError]:
    """The prompts of an `evals.json`, each of which should find the skill that the file names."""
    start = _EVALS.search(text)
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else 1
        yield _BadRecordError("not-json", f"The file is not JSON: {_reason(error)}", line=line)
        return
    if start is None or not isinstance(values, dict):
        message = "This is one JSON value, and neither a list of prompts nor an evals.json."
        yield _BadRecordError("not-prompts", message, line=1)
        return
    named = skill or str(cast("Mapping[str, Any]", values).get("skill_name", ""))
    before = text.count("\n", 0, start.end())
    for record in _list_records(text[start.end() - 1 :]):
        if isinstance(record, _BadRecordError):
            record.line += before
            yield record
        else:
            yield _Record(record.line + before, {"skill": named, "should_trigger": True, **record.fields})


def _line_records(text: str) -> Iterator[_Record | _BadRecordError]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield _record(number, json.loads(line))
            except (ValueError, RecursionError) as error:
                yield _BadRecordError("not-json", f"This line is not JSON: {_reason(error)}", line=number)


def _list_records(text: str) -> Iterator[_Record | _BadRecordError]:
    decoder = json.JSONDecoder()
    at, line = text.index("[") + 1, 1
    counted = 0
    while True:
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
        line += text.count("\n", counted, at)
        counted = at
        if text[at : at + 1] == "]":
            return
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            # Where a value that cannot be read ends is anyone's guess.
            message = f"From here on the list is not JSON: {_reason(error)}"
            yield _BadRecordError("not-json", message, "Close every bracket and quote.", line=line)
            return
        yield _record(line, value)


def _csv_records(text: str) -> Iterator[_Record | _BadRecordError]:
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] | None = None
    line = 1
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            yield _BadRecordError("not-csv", f"This row is not CSV: {error}", "Put quotes around the cell.", line=line)
            return
        if row is None:
            return
        if header is None:
            header = [cell.strip().casefold() for cell in row]
            if not {"prompt", "query"} & set(header):
                message = "The first row names no column 'prompt'."
                yield _BadRecordError("no-header", message, "Start with: prompt,skill,should_trigger", line=line)
                return
        elif any(cell.strip() for cell in row):
            cells = dict(zip(header, row, strict=False))
            yield _record(line, {key: value for key, value in cells.items() if value.strip()})
        line = rows.line_num + 1


def _record(line: int, value: object) -> _Record | _BadRecordError:
    if not isinstance(value, dict):
        return _BadRecordError("not-a-record", "This is no JSON object.", line=line)
    return _Record(line, cast("Mapping[str, Any]", value))


def _prompt(record: _Record, skill: str) -> TriggerPrompt:
    fields = record.fields
    text = fields.get("prompt", fields.get("query"))
    if not isinstance(text, str) or not text.strip():
        raise _BadRecordError("no-prompt", "There is no text in 'prompt'.")
    if len(text) > MAX_PROMPT:
        message = f"The prompt has {len(text):,} characters; at most {MAX_PROMPT:,} are read."
        raise _BadRecordError("prompt-length", message, "Shorten it.")
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise _BadRecordError("not-utf8", "The prompt is not UTF-8.", "Save the file as UTF-8.")
    should, should_not = _names(fields, "should"), _names(fields, "should_not")
    if "should_trigger" in fields:
        named = fields.get("skill", skill)
        if not isinstance(named, str) or not named.strip():
            raise _BadRecordError("no-skill", "It is not said which skill should trigger.", "Add --skill NAME.")
        if _is_yes(fields["should_trigger"]):
            should = (*should, named.strip())
        else:
            should_not = (*should_not, named.strip())
    if not should and not should_not and "should" not in fields:
        raise _BadRecordError("no-expectation", "It is not said which skill should or should not be found.")
    return _checked(TriggerPrompt(line=record.line, text=text.strip(), should=should, should_not=should_not))


def _names(fields: Mapping[str, Any], field: str) -> tuple[str, ...]:
    """The skills in a field: a name, or a list of them; null and an empty list are none."""
    value = fields.get(field)
    names = cast("list[object]", [value] if isinstance(value, str) else value or [])
    if not isinstance(value, str | list | None) or not all(isinstance(name, str) and name.strip() for name in names):
        raise _BadRecordError("not-a-name", f"{field!r} is neither a name nor a list of names.")
    return tuple(dict.fromkeys(str(name).strip() for name in names))


def _is_yes(value: object) -> bool:
    word = str(value).strip().casefold()
    if word not in _YES | _NO:
        raise _BadRecordError("not-yes-or-no", f"'should_trigger' is {value!r}.", "Write true or false.")
    return word in _YES


def _joined(known: TriggerPrompt, other: TriggerPrompt) -> TriggerPrompt:
    return _checked(
        TriggerPrompt(
            line=known.line,
            text=known.text,
            should=tuple(dict.fromkeys((*known.should, *other.should))),
            should_not=tuple(dict.fromkeys((*known.should_not, *other.should_not))),
        )
    )


def _checked(prompt: TriggerPrompt) -> TriggerPrompt:
    both = sorted(set(prompt.should) & set(prompt.should_not))
    if both:
        message = f"{both[0]!r} should and should not be found for the same prompt."
        raise _BadRecordError("contradiction", message, "Decide for one of the two.")
    return prompt


def _reason(error: ValueError | RecursionError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} (column {error.colno})."
    return "it is nested too deeply." if isinstance(error, RecursionError) else f"{error}."
