"""What was said between a model and those who ask it, kept for people to read; secrets are taken out."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

from skillyard.redact import Secrets, redact, storable

MAX_TEXT: Final = 20_000
"""Characters that are kept of one message."""
MAX_ENTRIES: Final = 500
AGAIN: Final = "again"
"""In place of who speaks: another attempt begins here."""


class Transcript:
    """Messages in their order."""

    def __init__(
        self,
        *,
        secrets: Sequence[str] = (),
        entries: Sequence[Mapping[str, Any]] = (),
        mask: Callable[[str], str] = redact,
    ) -> None:
        """`mask` takes out what looks like a secret, `secrets` are those that are known. Of the `entries` of earlier
        attempts the newest are kept, so that there is room.
        """
        self._secrets = Secrets(secrets)
        self._mask = mask
        self._entries: list[dict[str, Any]] = [dict(entry) for entry in entries[-MAX_ENTRIES // 2 :]]

    @property
    def entries(self) -> tuple[Mapping[str, Any], ...]:
        return tuple(self._entries)

    def add(self, role: str, text: str, **more: Any) -> None:  # noqa: ANN401 -- JSON
        """Note what somebody said: `system`, `user`, `assistant`, `tool` or `error`."""
        if len(self._entries) < MAX_ENTRIES:
            self._entries.append({"role": role, "text": self._clean(text), **_plain(more, self._clean)})

    def as_json(self) -> bytes:
        return json.dumps(self._entries, ensure_ascii=False).encode()

    def _clean(self, text: str) -> str:
        clean = self._mask(self._secrets.text(storable(text)))
        left_out = len(clean) - MAX_TEXT
        return clean if left_out <= 0 else f"{clean[:MAX_TEXT]}\n[… {left_out:,} characters are left out here …]"


def _plain(value: Any, clean: Callable[[str], str]) -> Any:  # noqa: ANN401 -- any JSON
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(str(key)): _plain(each, clean) for key, each in cast("dict[object, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_plain(each, clean) for each in cast("Sequence[Any]", value)]
    return value
