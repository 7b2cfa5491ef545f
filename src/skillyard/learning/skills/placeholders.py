"""Rewrites that lose what was there: placeholders for the rest, shrunken files, sections that are gone."""

import re
from collections.abc import Iterator
from typing import Final

from skillyard.skill.bundle import Bundle

SHRUNKEN: Final = 0.6
"""What a rewritten file must keep of its length, unless it was to be replaced."""
_SMALL: Final = 120
"""Characters below which a file is not held to that."""
_REST: Final = (
    r"rest|remainder|remaining|other|existing|previous|original|same|unchanged|omitted|continues|above|below|"
    r"나머지|기존|이하|이전|동일|생략|유지|其余|其他|省略|不变|保持|原有|残り|以下|既存"
)
_PLACEHOLDER: Final = re.compile(
    rf"^[^\w\n]*(?:\.{{3}}|…)[^\w\n]*$"
    rf"|^[^\w\n]*(?:\.{{3}}|…|\[|\(|<!--|/\*|#|//)[^\n]{{0,40}}(?:{_REST})[^\n]{{0,60}}(?:\.{{3}}|…|\]|\)|-->|\*/)\W*$"
    r"|^[^\w\n]*(?:the )?(?:rest|remainder)(?: of (?:the|this) (?:file|document|section|code|script|steps))?"
    r" (?:is |are |stays? |remains? )?(?:the same|unchanged|as (?:it is|before)|omitted)\b[^\n]{0,40}$"
    r"|이하 생략|나머지(?:는| 내용은)? (?:동일|그대로|생략)|기존 (?:내용|파일)(?:은|을)? (?:그대로|유지|동일)"
    r"|其余(?:内容|部分)?(?:保持)?不变|以下省略|以下略",
    re.IGNORECASE | re.MULTILINE,
)
_HEADING: Final = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)


def placeholders(new: Bundle, old: Bundle | None) -> Iterator[str]:
    """Places that stand for a text which is not there. What the old text had already is its own affair."""
    for file in new:
        before = _text(old, file.path)
        for found in _PLACEHOLDER.finditer(_text(new, file.path)):
            line = found[0].strip()
            if line and line not in before:
                yield f"{file.path}: {line[:80]!r} stands for text that is not there; write it out."
                break


def losses(new: Bundle, old: Bundle, rewritten: set[str]) -> Iterator[str]:
    """What a change would lose: much of a file, or sections of one that was written anew as a whole."""
    everything = "\n".join(_text(new, file.path) for file in new)
    for file in old:
        before, after = _text(old, file.path), _text(new, file.path)
        if len(before) > _SMALL and len(after) < SHRUNKEN * len(before):
            share = round(100 * len(after) / len(before))
            yield f"{file.path}: only {share} % of it would be left; the old text is kept unless it is wrong."
        elif file.path in rewritten and file.path.endswith(".md"):
            kept = {heading.casefold() for heading in _HEADING.findall(everything)}
            lost = [heading for heading in _HEADING.findall(before) if heading.casefold() not in kept]
            if lost:
                yield f"{file.path}: the section {lost[0][:80]!r} is gone; keep it, or change it with find and replace."


def _text(bundle: Bundle | None, path: str) -> str:
    file = bundle.get(path) if bundle else None
    return file.data.decode("utf-8", "replace") if file else ""
