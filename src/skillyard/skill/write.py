"""Writing a `SKILL.md` that always reads back to the same values."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from skillyard.errors import InputError
from skillyard.skill.document import parse
from skillyard.skill.models import PlainScalar, Value
from skillyard.skill.names import require_name

_NEEDS_ESCAPES: Final = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff]")
"""What YAML takes for line breaks, or must not hold unescaped."""
_WORDS: Final[dict[str, bool | None]] = {"true": True, "false": False, "null": None}
_NUMBER: Final = re.compile(r"-?\d{1,300}(?:\.\d+)?(?:e[-+]?\d+)?")


def render_skill_md(fields: Mapping[str, object], body: str) -> str:
    """The text of a `SKILL.md` with these fields, in this order, and this body, verbatim."""
    return f"---\n{render_frontmatter(fields)}---\n{body}"


def render_frontmatter(fields: Mapping[str, object]) -> str:
    """Fields as YAML. Texts that other readers would take for something else are quoted."""
    values = {key: as_value(value, key) for key, value in fields.items()}
    return _dump(values) if values else ""


def generate_skill_md(
    name: str, description: str, body: str = "", additional_fields: Mapping[str, object] | None = None
) -> str:
    """The text of a `SKILL.md` from its parts; a name or description that no skill can have is refused."""
    require_name(name)
    if not description.strip():
        raise InputError(
            "The description is empty.",
            hint="Say what the skill does and when to use it.",
            details={"field": "description", "value": description},
        )
    return compose_skill_md(name, description, body, additional_fields)


def compose_skill_md(
    name: str, description: str, body: str = "", additional_fields: Mapping[str, object] | None = None
) -> str:
    """The text of a `SKILL.md` from parts that are validated elsewhere: any name and description is accepted."""
    additional = additional_fields or {}
    for key in ("name", "description"):
        if key in additional:
            raise InputError(
                f"{key!r} stands in additional_fields too.",
                hint=f"Give it once, as the argument {key!r}.",
                details={"field": key},
            )
    return render_skill_md({"name": name, "description": description, **additional}, f"\n{body}")


def parse_skill_md(content: str) -> tuple[dict[str, Any], str]:
    """The frontmatter fields and the body of a `SKILL.md` text, read leniently.

    Unquoted truth values, numbers and `null` are what `generate_skill_md` was given; anything else is a text.
    """
    parsed = parse(content.encode("utf-8", "replace"))
    if parsed.document is None:
        first = next(finding for finding in parsed.findings if finding.severity == "error")
        raise InputError(
            first.message,
            hint=first.fix,
            details={"findings": [finding.as_dict() for finding in parsed.findings]},
        )
    fields = {key: _as_python(value) for key, value in parsed.document.fields.items()}
    return fields, parsed.document.body.removeprefix("\n")


def _as_python(value: Value) -> object:
    if isinstance(value, dict):
        return {key: _as_python(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_python(item) for item in value]
    if not isinstance(value, PlainScalar):
        return value
    if value in _WORDS:
        return _WORDS[value]
    if _NUMBER.fullmatch(value):
        number = int(value) if value.lstrip("-").isdigit() else float(value)
        # What would be written in another way, such as 1.10, is a text: that of a version, perhaps.
        return number if str(number) == value else str(value)
    return str(value)


def as_value(value: object, field: str) -> Value:
    """A Python value as frontmatter has it: texts, lists and mappings of texts."""
    if isinstance(value, str):
        _check_text(value, field)
        return value
    if value is None:
        return PlainScalar("null")
    if isinstance(value, bool):
        return PlainScalar("true" if value else "false")
    if isinstance(value, int | float):
        return PlainScalar(value)
    if isinstance(value, Mapping):
        mapping = cast("Mapping[object, object]", value)
        return {_key(key, field): as_value(item, f"{field}.{key}") for key, item in mapping.items()}
    if isinstance(value, list | tuple | set | frozenset):
        items = cast("Iterable[object]", value)
        return [as_value(item, field) for item in items]
    raise InputError(
        f"The value of {field!r} is a {type(value).__name__}, which frontmatter cannot hold.",
        hint="Use text, numbers, lists and mappings.",
        details={"field": field},
    )


def _key(key: object, field: str) -> str:
    text = key if isinstance(key, str) else str(as_value(key, field))
    _check_text(text, field)
    return text


def _check_text(text: str, field: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(
            f"The value of {field!r} holds half of a surrogate pair, which UTF-8 cannot.",
            hint="Delete the broken character.",
            details={"field": field},
        ) from None


def _dump(values: Mapping[str, Value]) -> str:
    import yaml  # noqa: PLC0415 - reading does not need the writer

    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:  # noqa: ANN401, ARG002 - the signature of PyYAML
            return True

    def write_plain(dumper: yaml.SafeDumper, data: PlainScalar) -> yaml.ScalarNode:
        tag = cast("str", dumper.resolve(yaml.ScalarNode, str(data), (True, False)))  # pyright: ignore[reportUnknownMemberType]
        return dumper.represent_scalar(tag, str(data))  # pyright: ignore[reportUnknownMemberType]

    def write_text(dumper: yaml.SafeDumper, data: str) -> yaml.ScalarNode:
        # Blank lines at the end of a literal would need a `...` line after it.
        literal = "\n" in data and not data.endswith("\n\n") and data != "\n"
        style = '"' if _NEEDS_ESCAPES.search(data) or ("\n" in data and not literal) else "|" if literal else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", data, style=style)  # pyright: ignore[reportUnknownMemberType]

    Dumper.add_representer(PlainScalar, write_plain)
    Dumper.add_representer(str, write_text)
    return yaml.dump(values, Dumper=Dumper, allow_unicode=True, sort_keys=False, default_flow_style=False, width=2**31)
