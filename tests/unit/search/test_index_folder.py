import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from skillyard.search import Document, engine
from skillyard.search.index_folder import BrokenIndexError, IndexFolder
from skillyard.search.pen import Pen

HOLDER = """
import sys
from pathlib import Path
from skillyard.search.index_folder import IndexFolder
folder = IndexFolder(Path(sys.argv[1]))
print(folder.take_pen(), flush=True)
sys.stdin.read()
"""


def document(key, text, **given):
    return Document(key=key, name=f"{text}-skill", description=f"Does {text}.", **given)


def keys(view, query):
    return [hit.key for hit in view.search(query).hits]


def built(folder, *documents, mark="1"):
    build = folder.build()
    build.add(documents)
    build.finish(mark)


@pytest.fixture
def place(tmp_path):
    return tmp_path / "search"


@pytest.fixture
def opened():
    """Opens indexes as different processes would, and closes them with the test."""
    folders = []

    def opened(path):
        folders.append(IndexFolder(path))
        return folders[-1]

    yield opened
    for folder in folders:
        folder.close()


@pytest.fixture
def folder(place, opened):
    """A folder with one skill in its index, open for writing."""
    folder = opened(place)
    assert folder.take_pen()
    built(folder, document("a", "tables"))
    return folder


def present(place):
    return max(path for path in place.joinpath(f"v{engine.FORMAT}").iterdir() if path.name.isdecimal())


def test_where_nothing_was_built_there_is_no_index(place, opened):
    assert opened(place).look() is None


def test_what_was_built_is_found_with_its_mark_by_every_process(folder, place, opened):
    other = opened(place)
    for view in (folder.look(), other.look()):
        assert view.mark == "1"
        assert keys(view, "tables") == ["a"]


def test_what_becomes_hidden_is_not_found_by_who_saw_everything(folder):
    folder.write([document("a", "tables", seen_by=("ann",)), document("b", "tables", seen_by=("ann",))], mark="2")
    before = folder.look()
    folder.write([document("b", "tables", seen_by=("bob",))], mark="3")
    found = [[hit.key for hit in view.search("tables", seen_by=["ann"]).hits] for view in (before, folder.look())]
    assert [sorted(each) for each in found] == [["a", "b"], ["a"]]


def test_what_is_written_is_seen_by_others_at_their_next_look(folder, place, opened):
    other = opened(place)
    before = other.look()
    folder.write([document("b", "archives")], gone=["a"], mark="2")
    after = other.look()
    assert (after.mark, keys(after, "tables"), keys(after, "archives")) == ("2", [], ["b"])
    assert (before.mark, keys(before, "tables")) == ("1", ["a"])
    assert other.look() is after


def test_one_process_at_a_time_has_the_pen_and_it_goes_with_the_process(place, opened):
    command = [sys.executable, "-c", HOLDER, str(place)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"True\n"
        mine = opened(place)
        assert not mine.take_pen()
        assert not mine.take_pen()
        holder.kill()
        holder.wait()
        assert mine.take_pen()
        assert not Pen(place / f"v{engine.FORMAT}" / "lock").take()


def test_an_unfinished_index_is_not_seen_and_is_taken_away_by_the_next(folder, place, opened):
    build = folder.build()
    build.add([document("b", "archives")])
    assert keys(opened(place).look(), "archives") == []
    del build
    built(folder, document("c", "charts"), mark="3")
    assert keys(folder.look(), "charts") == ["c"]
    assert [path.name for path in present(place).parent.iterdir() if path.name != "lock"] == [present(place).name]


def test_an_index_is_searched_while_the_next_takes_its_place(folder):
    view = folder.look()
    built(folder, document("b", "archives"), mark="2")
    assert keys(view, "tables") == ["a"]
    assert keys(folder.look(), "tables") == []
    assert folder.look().mark == "2"


DAMAGE = {
    "gone": lambda file: file.unlink(),
    "empty": lambda file: file.write_bytes(b""),
    "cut": lambda file: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2]),
    "other": lambda file: file.write_bytes(b"nonsense" * 50),
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("kind", ["meta.json", "*.store", "*.term", "*.idx", "*.fast", "*.fieldnorm", "*.pos"])
def test_a_damaged_index_is_none_and_the_next_is_built(folder, place, opened, kind, damage):
    for file in list(present(place).glob(kind)):
        DAMAGE[damage](file)
    other = opened(place)
    assert other.look() is None
    assert folder.look() is None  # who had it open hears of it
    with pytest.raises(BrokenIndexError):
        folder.write([document("b", "archives")], mark="2")
    built(folder, document("a", "tables"), mark="2")
    assert keys(other.look(), "tables") == ["a"]


@pytest.mark.parametrize("kind", ["*.store", "*.term", "*.idx"])
def test_wrong_bytes_that_show_only_in_a_search_are_told(folder, place, opened, kind):
    for file in list(present(place).glob(kind)):
        data = bytearray(file.read_bytes())
        data[: len(data) - 200] = b"\xff" * (len(data) - 200)
        file.write_bytes(data)
    other = opened(place)
    try:
        view = other.look()
        found = view and keys(view, "tables")
    except BrokenIndexError:
        other.condemn(view)
        found = None
    assert found in (None, [])
    if found is None:
        assert folder.look() is None


def test_what_an_earlier_format_wrote_is_left_alone_while_someone_writes_it_and_then_taken_away(
    folder, place, opened, monkeypatch
):
    monkeypatch.setattr(engine, "FORMAT", engine.FORMAT + 1)
    newer = opened(place)
    assert newer.take_pen()
    assert newer.look() is None
    built(newer, document("b", "archives"))
    assert keys(newer.look(), "archives") == ["b"]
    assert keys(folder.look(), "tables") == ["a"]
    folder.close()
    built(newer, document("b", "archives"))
    assert [path.name for path in place.iterdir()] == [f"v{engine.FORMAT}"]


def test_a_file_in_place_of_the_index_is_no_index(folder, place):
    path = present(place)
    shutil.rmtree(path)
    Path(path).write_text("nothing")
    assert folder.look() is None


def test_a_write_that_fails_leaves_what_was_there(folder):
    def half():
        yield document("b", "archives")
        raise RuntimeError("the source went away")

    with pytest.raises(RuntimeError):
        folder.write(half(), mark="2")
    assert (folder.look().mark, keys(folder.look(), "archives")) == ("1", [])
    folder.write([document("b", "archives")], mark="2")
    assert keys(folder.look(), "archives") == ["b"]


def test_many_threads_look_and_search_while_one_writes(folder):
    wrong = []

    def look():
        for _ in range(30):
            view = folder.look()
            if keys(view, "tables") != ["a"]:
                wrong.append(view.mark)

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(10):
        folder.write([document("b", f"archive{number}")], mark=str(number))
    for thread in threads:
        thread.join()
    assert wrong == []
