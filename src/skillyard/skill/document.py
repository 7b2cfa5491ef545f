"""Reading a `SKILL.md`: any bytes in, a document and all findings out."""

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Final, NamedTuple

from skillyard.skill.agent_fields import AGENT_FIELDS
from skillyard.skill.frontmatter import Frontmatter, split_frontmatter
from skillyard.skill.limits import MAX_COMPATIBILITY, MAX_DESCRIPTION
from skillyard.skill.models import Finding, Parsed, Profile, SkillDocument, Value
from skillyard.skill.names import hidden_characters, name_problems, normal_name
from skillyard.skill.rules import Findings
from skillyard.skill.yaml_read import read_mapping
from skillyard.skill.yaml_refusal import UNQUOTED_COLON, RefusedYamlError

SPEC_FIELDS: Final = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
LONG_BODY_LINES: Final = 500
_TOOLS: Final = re.compile(r"[^\s,()]+(?:\([^()]*\))?")
_TAGS: Final = re.compile(r"[^\s,]+(?: +[^\s,]+)*")
MAX_PLACES: Final = 10
_TODO: Final = re.compile(r"\s*(?:[-*#]+\s+|\d+\.\s+)*\[?TODO:")
_CODE_FENCES: Final = ("```", "~~~")
_VALUE_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_BODY_CONTROL: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")


class Summary(NamedTuple):
    """What a catalog needs of a skill. It can be listed when there is a description."""

    name: str
    description: str
    findings: tuple[Finding, ...]


def summarize(data: bytes, *, folder: str) -> Summary:
    """The name and description of a `SKILL.md` in the lenient profile, without reading its body."""
    findings = Findings(Profile.LENIENT)
    source = _read(data, findings)
    if source is None:
        return Summary(folder, "", tuple(findings.items))
    name = _name(source, folder, findings)
    return Summary(name, _description(source, findings), tuple(findings.items))


def parse(data: bytes, *, folder: str | None = None, profile: Profile = Profile.LENIENT) -> Parsed:
    """The document in these bytes and everything there is to say about it. Never raises.

    `folder` is the name of the skill's folder; without it, the name is not compared to one.
    """
    findings = Findings(profile)
    source = _read(data, findings)
    if source is None:
        return Parsed(document=None, findings=tuple(findings.items))
    fields = source.fields
    name = _name(source, folder, findings)
    description = _description(source, findings)
    license_ = _text(source, "license", findings)
    compatibility = _compatibility(source, findings)
    metadata = _metadata(source, findings)
    allowed_tools = _allowed_tools(source, findings)
    for key in fields:
        if key not in SPEC_FIELDS:
            _judge_further_field(key, source, findings)
        # What metadata holds is data for programs.
        if key != "metadata":
            _judge_characters(key, source, findings)
    body = _body(source.frontmatter, findings)
    if findings.profile is not Profile.LENIENT:
        _judge_todos(description, body, source, findings)
    if not description:
        return Parsed(document=None, findings=tuple(findings.items))
    document = SkillDocument(
        name=name,
        description=description,
        license=license_,
        compatibility=compatibility,
        metadata=metadata,
        allowed_tools=allowed_tools,
        tags=_words(fields.get("tags", ""), _TAGS),
        extra={key: value for key, value in fields.items() if key not in SPEC_FIELDS},
        fields=fields,
        frontmatter=source.frontmatter.text,
        body=body,
        body_line=source.frontmatter.body_line,
    )
    return Parsed(document=document, findings=tuple(findings.items))


def _judge_further_field(key: str, source: "_Source", findings: Findings) -> None:
    agents = AGENT_FIELDS.get(key)
    if agents is None:
        findings.add(
            "unknown-field", f"{key!r} is not a field of the specification.", field=key, line=source.line_of(key)
        )
        return
    labels = " and ".join(filter(None, (", ".join(agents[:-1]), agents[-1])))
    message = f"{key!r} is a field of {labels}, not of the specification; other agents ignore it."
    findings.add("agent-field", message, field=key, line=source.line_of(key))


def _judge_characters(key: str, source: "_Source", findings: Findings) -> None:
    control = next((found for text in _texts(source.fields[key]) if (found := _VALUE_CONTROL.search(text))), None)
    if control is not None:
        message = f"The value of {key!r} holds the control character U+{ord(control[0]):04X}, written as an escape."
        findings.add("value-control-character", message, field=key, line=source.line_of(key))


def _texts(value: Value) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _texts(item)
    else:
        for item in value:
            yield from _texts(item)


def _judge_todos(description: str, body: str, source: "_Source", findings: Findings) -> None:
    """Leftover TODOs of the template for new skills."""
    places = [source.line_of("description")] if _TODO.match(description) else []
    in_code = False
    for number, line in enumerate(body.splitlines(), source.frontmatter.body_line):
        if line.lstrip().startswith(_CODE_FENCES):
            in_code = not in_code
        elif not in_code and _TODO.match(line):
            places.append(number)
    if places:
        where = ", ".join(map(str, places[:MAX_PLACES])) + (", …" if len(places) > MAX_PLACES else "")
        said = (
            f"1 TODO is left, on line {where}."
            if len(places) == 1
            else f"{len(places)} TODOs are left, on lines {where}."
        )
        findings.add("todo-left", said, line=places[0])


def tools_in(text: str) -> tuple[str, ...]:
    """The tools that one line names, separated by spaces or commas."""
    return tuple(_TOOLS.findall(text))


class _Source:
    """The fields of a file and where they stand."""

    def __init__(self, fields: Mapping[str, Value], frontmatter: Frontmatter) -> None:
        self.fields = fields
        self.frontmatter = frontmatter

    def line_of(self, key: str) -> int:
        return self._lines.get(key, self.frontmatter.line)

    @cached_property
    def _lines(self) -> dict[str, int]:
        """The line of each top-level key; looked for once, and only when something is to be said about one."""
        lines: dict[str, int] = {}
        for number, line in enumerate(self.frontmatter.text.splitlines(), self.frontmatter.line):
            if line[:1] not in ("", " ", "\t", "#", "-"):
                lines.setdefault(line.partition(":")[0].strip(" \t\"'"), number)
        return lines


def _read(data: bytes, findings: Findings) -> _Source | None:
    frontmatter = split_frontmatter(data, findings)
    if frontmatter is None:
        return None
    try:
        return _Source(read_mapping(frontmatter.text), frontmatter)
    except RefusedYamlError as refusal:
        if refusal.code == "yaml-invalid":
            return _read_quoted(frontmatter, refusal, findings)
        findings.add(refusal.code, refusal.message, line=frontmatter.line + refusal.line)
        return None


def _read_quoted(frontmatter: Frontmatter, refusal: RefusedYamlError, findings: Findings) -> _Source | None:
    """A second try with quoted values, as the loader guide asks for."""
    from skillyard.skill.yaml_repair import quote_values  # noqa: PLC0415 - for broken frontmatter only

    line = frontmatter.line + refusal.line
    quoted = quote_values(frontmatter.text)
    try:
        source = _Source(read_mapping(quoted), frontmatter)
    except RefusedYamlError as second:
        findings.add("yaml-invalid", _with_key(refusal, frontmatter.text), line=line)
        if second.code != "yaml-invalid":
            # Quoting may have joined lines; then the number is another one.
            same_lines = quoted.count("\n") == frontmatter.text.count("\n")
            findings.add(second.code, second.message, line=frontmatter.line + second.line if same_lines else 0)
        return None
    findings.add("yaml-unquoted", _with_key(refusal, frontmatter.text), line=line)
    return source


def _with_key(refusal: RefusedYamlError, text: str) -> str:
    """The message, with the key of the value that is wrong."""
    lines = text.splitlines()
    key, colon, _ = lines[refusal.line].partition(":") if refusal.line < len(lines) else ("", "", "")
    if refusal.message != UNQUOTED_COLON or not colon or key != key.strip():
        return refusal.message
    return f"The value of {key!r} contains ': ' and needs quotes."


def _name(source: _Source, folder: str | None, findings: Findings) -> str:
    value = source.fields.get("name")
    fallback = folder or ""
    if value is None:
        findings.add(
            "name-missing", "There is no name; the folder's name is used.", field="name", line=source.frontmatter.line
        )
        return fallback
    line = source.line_of("name") if not isinstance(value, str) or value != folder else 0
    if not isinstance(value, str) or not value.strip():
        findings.add("name-type", "The name is not a text.", field="name", line=line)
        return fallback
    name = normal_name(value)
    hidden = False
    for code, message in name_problems(name):
        findings.add(code, message, field="name", line=line)
        hidden = hidden or code == "name-hidden"
    if folder is not None and name != folder and name != normal_name(folder):
        findings.add("name-mismatch", f"The name is {name!r}, the folder is {folder!r}.", field="name", line=line)
    return fallback if hidden else name


def _description(source: _Source, findings: Findings) -> str:
    value = source.fields.get("description")
    if value is None:
        findings.add(
            "description-missing", "There is no description.", field="description", line=source.frontmatter.line
        )
        return ""
    if not isinstance(value, str):
        line = source.line_of("description")
        findings.add(
            "description-type",
            "The description is a list or a mapping; it is read as written.",
            field="description",
            line=line,
        )
        value = _written_value(source, "description")
    description = value.strip().replace("\0", "\ufffd")
    if not description:
        line = source.line_of("description")
        findings.add("description-empty", "The description is empty.", field="description", line=line)
    if len(value) > MAX_DESCRIPTION:
        findings.add(
            "description-length",
            f"The description has {len(value):,} characters; at most {MAX_DESCRIPTION:,} are allowed.",
            field="description",
            line=source.line_of("description"),
        )
    if findings.profile is not Profile.LENIENT and ("<" in value or ">" in value):
        findings.add(
            "description-angle-brackets",
            "The description has angle brackets.",
            field="description",
            line=source.line_of("description"),
        )
    hidden = hidden_characters(description, but="\n\t")
    if hidden:
        findings.add(
            "description-hidden",
            f"The description holds characters that cannot be seen ({hidden}).",
            field="description",
            line=source.line_of("description"),
        )
    return description


def _written_value(source: _Source, key: str) -> str:
    """The value of a top-level key as it stands in the file, its lines joined."""
    lines = source.frontmatter.text.splitlines()[source.line_of(key) - source.frontmatter.line :]
    value = [lines[0].partition(":")[2]]
    for line in lines[1:]:
        if line and not line[0].isspace() and not line.startswith("-"):
            break
        value.append(line)
    return " ".join(part.strip() for part in value if part.strip())


def _text(source: _Source, key: str, findings: Findings) -> str:
    value = source.fields.get(key, "")
    if isinstance(value, str):
        return value.strip()
    findings.add(f"{key}-type", f"{key!r} is not a text.", field=key, line=source.line_of(key))
    return ""


def _compatibility(source: _Source, findings: Findings) -> str:
    key = "compatibility"
    text = _text(source, key, findings)
    if key in source.fields and isinstance(source.fields[key], str) and not 1 <= len(text) <= MAX_COMPATIBILITY:
        findings.add(
            "compatibility-length",
            f"The compatibility has {len(text):,} characters; 1 to {MAX_COMPATIBILITY} are allowed.",
            field=key,
            line=source.line_of(key),
        )
    return text


def _metadata(source: _Source, findings: Findings) -> Mapping[str, Value]:
    value = source.fields.get("metadata")
    if value is None or value == "":
        return {}
    if not isinstance(value, dict):
        line = source.line_of("metadata")
        findings.add("metadata-type", "The metadata is not a mapping.", field="metadata", line=line)
        return {}
    nested = [key for key, item in value.items() if not isinstance(item, str)]
    if nested:
        findings.add(
            "metadata-nested",
            f"The metadata has values that are not texts: {', '.join(nested[:5])}.",
            field="metadata",
            line=source.line_of("metadata"),
        )
    return value


def _allowed_tools(source: _Source, findings: Findings) -> tuple[str, ...]:
    key = "allowed-tools"
    value = source.fields.get(key, "")
    if not isinstance(value, str):
        findings.add("allowed-tools-type", "The tools are not one line of text.", field=key, line=source.line_of(key))
    elif "," in re.sub(r"\([^()]*\)", "", value):
        findings.add("allowed-tools-commas", "The tools are separated by commas.", field=key, line=source.line_of(key))
    return _words(value, _TOOLS)


def _words(value: Value, pattern: re.Pattern[str]) -> tuple[str, ...]:
    """The words of a text, or the texts of a list."""
    if isinstance(value, str):
        return tuple(pattern.findall(value))
    if isinstance(value, list):
        return tuple(item.strip() for item in value if isinstance(item, str) and item.strip())
    return ()


def _body(frontmatter: Frontmatter, findings: Findings) -> str:
    try:
        body = frontmatter.body.decode()
    except UnicodeDecodeError as error:
        line = frontmatter.body_line + frontmatter.body.count(b"\n", 0, error.start)
        findings.add("encoding-invalid", "The body is not UTF-8; wrong bytes read as U+FFFD.", line=line)
        body = frontmatter.body.decode("utf-8", "replace")
    control = _BODY_CONTROL.search(frontmatter.body)
    if control:
        line = frontmatter.body_line + frontmatter.body.count(b"\n", 0, control.start())
        findings.add(
            "body-control-character", f"The body holds the control character U+{control.group()[0]:04X}.", line=line
        )
    lines = body.count("\n")
    if lines > LONG_BODY_LINES:
        findings.add(
            "body-long",
            f"The body has {lines:,} lines; agents load it whole, and {LONG_BODY_LINES} is a good upper bound.",
            line=frontmatter.body_line,
        )
    return body
