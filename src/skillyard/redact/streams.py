"""Takes secrets out of output, in one piece or as it comes."""

from collections.abc import Iterable, Mapping
from typing import Final

from skillyard.redact.forms import forms_of
from skillyard.redact.needles import Needles, merge_spans
from skillyard.redact.views import LONGEST_ROW, Rows, Span, View, without_columns, without_invisible

MARK: Final = "***"
_PIECE: Final = 64 * 1024
"""Bytes that are looked through at once."""
_HELD_FREELY: Final = 512
"""Held bytes that are searched again with every new piece, however small."""
_SHARE: Final = 8
"""More held bytes are searched again only after new data of this share of them has come."""
_MOST_HELD: Final = 16 * 1024
"""Bytes over which a secret may be spread, and that are held back because one may begin there; more for long ones."""
_SPREAD: Final = 16
"""Bytes of output for each of a form."""


class Secrets:
    """Values that must not be shown, in any form in which programs print them."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._values: set[str] = set()
        self._needles: dict[View, Needles] = {}
        for value in values:
            self.add(value)

    def __repr__(self) -> str:
        return f"Secrets({len(self._values)})"

    def add(self, value: str, mark: str = MARK) -> None:
        """Add a value, also to the existing streams."""
        if value in self._values or not value:
            return
        self._values.add(value)
        for view, form in forms_of(value):
            self._needles.setdefault(view, Needles()).add(form, mark.encode())

    def text(self, text: str, *, cut: bool = False) -> str:
        """The text without them; of one that was `cut` off, also without what may be the beginning of one."""
        if not self._needles:
            return text
        stream = self.stream()
        clean = stream.feed(text.encode(errors="surrogatepass")) + stream.finish(cut=cut)
        try:
            return clean.decode(errors="surrogatepass")
        except UnicodeDecodeError:
            return clean.decode(errors="replace")

    def data(self, data: bytes) -> bytes:
        """The bytes without them."""
        stream = self.stream()
        return stream.feed(data) + stream.finish()

    def stream(self, *, same_size: bool = False) -> "SecretStream":
        """For output that comes in pieces, at whose borders a secret may be cut in two.

        With `same_size`, all other bytes stay where they are.
        """
        return SecretStream(self._needles, same_size=same_size)


class SecretStream:
    """Takes pieces, and gives them back without secrets; what may be the start of one is held until more is known."""

    def __init__(self, needles: Mapping[View, Needles], *, same_size: bool) -> None:
        self._needles = needles
        self._same_size = same_size
        self._held = b""
        self._coming = b""
        self._line = b"\n"
        """What was released of the unfinished line, with the end of the one before."""
        self._hidden = 0
        """Bytes at the start of the held data that belong to a secret that was already replaced."""

    def feed(self, data: bytes) -> bytes:
        if not self._needles:
            return data
        self._coming += data
        if len(self._coming) * _SHARE < len(self._held) - _HELD_FREELY:
            return b""
        return self._search_held()

    def finish(self, *, cut: bool = False) -> bytes:
        """The rest; of output that was `cut` off, without what may be the beginning of a secret."""
        kept = self._search_held()
        if not cut:
            kept += self._release(self._held, self._spans(self._held, last=True)[0], len(self._held))
        elif self._same_size:
            kept += b"*" * len(self._held)
        self._held = b""
        return kept

    def _search_held(self) -> bytes:
        coming, self._coming = self._coming, b""
        kept: list[bytes] = []
        for at in range(0, len(coming), _PIECE):
            data = self._held + coming[at : at + _PIECE]
            spans, begins = self._spans(data, last=False)
            longest = max(needles.longest for needles in self._needles.values())
            kept.append(self._release(data, spans, max(begins, len(data) - _MOST_HELD - _SPREAD * longest)))
        return b"".join(kept)

    def _release(self, data: bytes, spans: Iterable[Span], until: int) -> bytes:
        kept: list[bytes] = []
        at = hidden = 0
        for start, end, mark in merge_spans(spans):
            goes_on = start == 0 and self._hidden > 0
            if start >= until and not goes_on:
                break
            kept.append(data[at:start])
            if self._same_size:
                kept.append(b"*" * (min(end, until) - start))
            elif not goes_on:
                kept.append(mark)
            at = min(end, until)
            hidden = max(0, end - until)
        kept.append(data[at:until])
        line = self._line + data[max(0, until - LONGEST_ROW) : until]
        self._line = line[max(0, line.rfind(b"\n")) :][-LONGEST_ROW:]
        self._held = data[until:]
        self._hidden = hidden
        return b"".join(kept)

    def _spans(self, data: bytes, *, last: bool) -> tuple[list[Span], int]:
        """The secrets, and the position after which one may have begun but not ended."""
        before = len(self._line)
        whole = self._line + data
        numbers = without_columns(whole)
        spans = [Span(0, self._hidden, b"")] if self._hidden else []
        begins = len(data)
        for reading in dict.fromkeys((whole, without_invisible(numbers))):
            text = reading[before:]
            for view, needles in self._needles.items():
                seen = view.read(text)
                found = list(needles.find(seen))
                if found:
                    places = view.places(text)
                    spans += [view.span(data, places, span) for span in found]
                open_from = needles.open_from(seen)
                if open_from is not None:
                    begins = min(begins, view.place_from_end(text, len(seen) - open_from))
        if numbers is not whole:
            rows = Rows(whole, numbers)
            spans = [_shift(rows.with_text(_shift(span, before), last=last), -before) for span in spans]
            unended = [before + span.end - 1 for span in spans if rows.goes_on(before + span.end - 1)]
            begins = max(0, min(rows.start(at) for at in (before + begins, *unended)) - before)
        return spans, begins


def _shift(span: Span, by: int) -> Span:
    return span._replace(start=span.start + by, end=span.end + by)
