"""Secrets in browser steps: what is typed into a field that is for one, or into one that nobody has seen."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from skillyard.errors import InputError
from skillyard.sandbox.browser_lines import line_of
from skillyard.sandbox.browser_steps import TYPING, VERBS, BrowserStep, parse_step
from skillyard.sandbox.capture.markers import MARKER, marker
from skillyard.sandbox.capture.secret_names import is_secret_label, is_secret_name, secret_called
from skillyard.sandbox.capture.secret_texts import Learn, mask_forms, mask_source

_TELLING: Final = frozenset({"fill", "type", "find", "press", "eval", "open", "select", "wait"})
"""Verbs whose arguments may be anything."""
_SECRET_CONTENTS: Final = frozenset({"current-password", "new-password", "one-time-code", "cc-csc"})
"""What `autocomplete` says of a field that is for a secret."""
_SET_VALUE: Final = re.compile(
    r"(\.(?:value|textContent|innerText)\s{0,3}=\s{0,3}|\.(?:fill|type|setAttribute\([\"']value[\"'],)\s{0,3}\(?\s{0,3})"
    r"([\"'`])((?:(?!\2)[^\\]|\\.)+)\2"
)
_WORD: Final = re.compile(r"[\w-]+")
_REF: Final = re.compile(r"@e\d+|--?[\w-]+")


def is_for_secret(target: Mapping[str, Any]) -> bool:
    """Whether an element is one that people type secrets into."""
    if target.get("is_password") is True:
        return True
    contents = str(target.get("autocomplete") or "").lower().split()
    if _SECRET_CONTENTS.intersection(contents):
        return True
    return is_secret_label(str(target.get("name") or "")) or is_secret_name(str(target.get("field") or ""))


def mask_step(command: str, target: Mapping[str, Any] | None, learn: Learn, *, succeeded: bool) -> str:
    """A step with a marker in place of the secret in it. `target` is the element that it acted on, if it did."""
    try:
        step = parse_step(command)
    except InputError:
        return _mask_misunderstood(command)
    typed = _typed_at(step)
    if typed is not None:
        return _mask_typed(command, step, typed, target if succeeded else None, learn)
    if step.verb == "press" and len(step.arguments[0]) == 1 and (target is None or is_for_secret(target)):
        return line_of(replace(step, arguments=(marker(),)))
    if step.verb == "eval":
        return _mask_script(command, step, learn)
    return mask_forms(command, learn)


def _typed_at(step: BrowserStep) -> int | None:
    """Which of the arguments is typed."""
    if step.verb in TYPING:
        return 1
    if step.verb == "find" and any(action in TYPING for action in step.arguments[2:4]):
        return len(step.arguments) - 1
    return None


def _mask_typed(command: str, step: BrowserStep, typed: int, target: Mapping[str, Any] | None, learn: Learn) -> str:
    text = step.arguments[typed]
    if not text or MARKER.fullmatch(text):
        return command
    if target is None:
        instead = marker()  # whoever typed it may have meant another field
    elif is_for_secret(target) or "secret" in step.options:
        instead = learn(text, secret_called(str(target.get("name") or "") or "password"))
    else:
        instead = mask_forms(text, learn)
    if instead == text:
        return command
    arguments = [*step.arguments[:typed], instead, *step.arguments[typed + 1 :]]
    return line_of(replace(step, arguments=tuple(arguments)))


def _mask_script(command: str, step: BrowserStep, learn: Learn) -> str:
    script = mask_source(step.arguments[0], learn)
    if any(map(is_secret_name, _WORD.findall(script))):
        script = _SET_VALUE.sub(lambda found: found[1] + found[2] + learn(found[3], "password") + found[2], script)
    return command if script == step.arguments[0] else line_of(replace(step, arguments=(script,)))


def _mask_misunderstood(command: str) -> str:
    """A step that was not taken: what it would have typed, and where, nobody can say."""
    words = command.split()
    verb = words[0].lower() if words else ""
    if verb in VERBS and verb not in _TELLING:
        return command
    kept = [word for word in words[1:] if _REF.fullmatch(word)]
    return " ".join([*words[:1], *kept, *([marker()] if len(words) > 1 + len(kept) else [])])
