"""An index that is kept in a folder: any number of processes search it, and one of them writes it.

It is a derived thing and can be made again at any time. The folder holds numbered indexes, of which the highest counts:
a new one is made beside it and renamed into place whole, so that nobody ever meets half of one. Whoever finds the
present one unusable takes away what makes it an index; the process that writes then makes the next.
"""

import shutil
import threading
from collections.abc import Collection, Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from tantivy import Index, IndexWriter

from skillyard.search import engine
from skillyard.search.documents import Document, Found
from skillyard.search.index import SkillIndex
from skillyard.search.pen import Pen

_META: Final = "meta.json"
"""The engine replaces it with every commit; without it a folder is no index."""
_PART: Final = ".part"
_PANIC: Final = "pyo3_runtime"


class BrokenIndexError(Exception):
    """The index cannot be read or written; making it anew is the remedy."""


class _Stamp(NamedTuple):
    """Which commit of which index is there."""

    path: Path
    inode: int
    modified: int


class View:
    """An index as one commit left it, and how far it had followed its source."""

    def __init__(self, index: Index, stamp: _Stamp) -> None:
        self.stamp = stamp
        with _broken_if_it_fails():
            self.mark = engine.mark_of(index)
            self._searchable = SkillIndex(index)

    def search(
        self, query: str, *, seen_by: Collection[str] | None = None, labels: Collection[str] = (), limit: int = 10
    ) -> Found:
        """What fits a query, as `SkillIndex.search` finds it."""
        with _broken_if_it_fails():
            return self._searchable.search(query, seen_by=seen_by, labels=labels, limit=limit)


class IndexFolder:
    """Indexes of one format in a folder. Any thread may look; one at a time may write, with the pen."""

    def __init__(self, root: Path) -> None:
        self._root = root / f"v{engine.FORMAT}"
        self._pen = Pen(self._root / "lock")
        self._gate = threading.Lock()
        self._view: View | None = None
        self._index: Index | None = None
        self._writer: IndexWriter | None = None

    def take_pen(self) -> bool:
        """Whether this process writes from now on: that no other does."""
        return self._pen.take()

    def look(self) -> View | None:
        """The index as it is now; None when there is none that can be used."""
        with self._gate:
            stamp = self._stamp()
            if stamp is None:
                self._view = self._index = None
            elif self._view is None or self._view.stamp != stamp:
                self._view = self._opened(stamp)
            return self._view

    def condemn(self, view: View) -> None:
        """Let nobody use the index of this view again."""
        with self._gate:
            view.stamp.path.joinpath(_META).unlink(missing_ok=True)

    def write(self, documents: Iterable[Document], *, gone: Iterable[str] = (), mark: str) -> None:
        """Change the present index: all of it, with the mark, or nothing."""
        try:
            with _broken_if_it_fails():
                if self._writer is None:
                    self._writer = engine.writer(self._present())
                engine.drop(self._writer, gone)
                engine.put(self._writer, documents)
                engine.set_mark(self._writer, mark)
                self._writer.commit()
        except BaseException:
            self._lay_down()
            raise

    def build(self) -> "Build":
        """Begin an index that takes the place of the present one when it is finished."""
        self._lay_down()
        self._clear_older_formats()
        numbers = [int(path.name) for path in self._indexes()]
        return Build(self._root / f"{max(numbers, default=0) + 1:08}")

    def close(self) -> None:
        self._lay_down()
        self._pen.put_down()

    def _present(self) -> Index:
        if self.look() is None or self._index is None:
            raise BrokenIndexError("There is no index to write to.")
        return self._index

    def _lay_down(self) -> None:
        """Let go of the engine's writer; what was not committed is forgotten."""
        writer, self._writer = self._writer, None
        if writer is not None:
            with suppress(BrokenIndexError), _broken_if_it_fails():
                writer.rollback()
                writer.wait_merging_threads()

    def _clear_older_formats(self) -> None:
        """Take away what earlier releases left, unless one of them is still at it."""
        for path in self._root.parent.glob("v*"):
            number = path.name[1:]
            pen = Pen(path / "lock")
            if number.isdecimal() and int(number) < engine.FORMAT and pen.take():
                shutil.rmtree(path, ignore_errors=True)
                pen.put_down()

    def _indexes(self) -> list[Path]:
        with suppress(FileNotFoundError):
            return sorted(path for path in self._root.iterdir() if path.name.isdecimal())
        return []

    def _stamp(self) -> _Stamp | None:
        paths = self._indexes()
        with suppress(FileNotFoundError, NotADirectoryError):
            if paths:
                status = paths[-1].joinpath(_META).stat()
                return _Stamp(paths[-1], status.st_ino, status.st_mtime_ns)
        return None

    def _opened(self, stamp: _Stamp) -> View | None:
        try:
            with _broken_if_it_fails():
                if self._index is None or self._view is None or self._view.stamp.path != stamp.path:
                    self._index = engine.new_index(str(stamp.path))
                    self._index.config_reader("manual", 0)
                self._index.reload()
            return View(self._index, stamp)
        except BrokenIndexError:
            self._index = None
            if self._stamp() == stamp:
                stamp.path.joinpath(_META).unlink(missing_ok=True)
            return None


class Build:
    """An index in the making, that nobody sees before it is finished."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._part = place.with_suffix(_PART)
        self.abandon()
        self._part.mkdir(parents=True)
        with _broken_if_it_fails():
            self._writer = engine.writer(engine.new_index(str(self._part)), threads=engine.BUILDERS)

    def add(self, documents: Iterable[Document]) -> None:
        """Add documents; none of their keys was added before."""
        with _broken_if_it_fails():
            engine.add(self._writer, documents)

    def finish(self, mark: str) -> None:
        """Let it be the index that counts from now on; those before it are taken away."""
        with _broken_if_it_fails():
            engine.set_mark(self._writer, mark)
            self._writer.commit()
            self._writer.wait_merging_threads()
        self._part.rename(self._place)
        for path in self._place.parent.iterdir():
            if path != self._place and path.name.removesuffix(_PART).isdecimal():
                shutil.rmtree(path, ignore_errors=True)

    def abandon(self) -> None:
        shutil.rmtree(self._part, ignore_errors=True)


@contextmanager
def _broken_if_it_fails() -> Generator[None]:
    try:
        yield
    except ValueError as error:
        raise BrokenIndexError(str(error)) from error
    except BaseException as error:
        # What the engine calls a panic is no ordinary exception, but says the same.
        if type(error).__module__ != _PANIC:
            raise
        raise BrokenIndexError(str(error)) from error
