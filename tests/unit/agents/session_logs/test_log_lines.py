import json
import os
import tracemalloc

import pytest

from skillyard.agents.session_logs.log_lines import LineCounts, log_entries

MARK = b"mark"


def read(path, **more):
    counts = LineCounts()
    return list(log_entries(path, counts, marks=[MARK], **more)), counts


def test_only_lines_with_a_mark_are_looked_into(tmp_path):
    log = tmp_path / "log.jsonl"
    log.write_bytes(b'{"mark": 1}\nno json without it\n{"other": 2}\n{"mark": 3}\n')
    entries, counts = read(log)
    assert entries == [{"mark": 1}, {"mark": 3}]
    assert (counts.read, counts.passed_over) == (4, 0)


@pytest.mark.parametrize(
    "line",
    [
        b'{"mark": ',
        b'["mark"]',
        b'"mark"',
        b'{"mark": "\xff\xfe"}',
        b'{"mark": ' + b"[" * 100_000,
        b'{"mark": ' + b"9" * 5_000 + b"}",
        b"\0mark\0",
    ],
    ids=["cut", "list", "text", "no utf-8", "deep", "digits", "zeros"],
)
def test_a_broken_line_is_counted_and_its_neighbours_are_read(tmp_path, line):
    log = tmp_path / "log.jsonl"
    log.write_bytes(b'{"mark": 1}\n' + line + b'\n{"mark": 2}\n')
    entries, counts = read(log)
    assert entries == [{"mark": 1}, {"mark": 2}]
    assert (counts.broken, counts.too_long, counts.unreadable) == (1, 0, 0)


def test_a_line_that_is_too_long_is_passed_over(tmp_path):
    log = tmp_path / "log.jsonl"
    long = json.dumps({"mark": "x" * 1000}).encode()
    log.write_bytes(b'{"mark": 1}\n' + long + b'\n{"mark": 2}\n' + long)
    entries, counts = read(log, max_line=100)
    assert entries == [{"mark": 1}, {"mark": 2}]
    assert (counts.read, counts.too_long, counts.broken) == (2, 2, 0)


def test_a_line_that_is_too_long_is_not_held_in_memory(tmp_path):
    log = tmp_path / "log.jsonl"
    with log.open("wb") as stream:
        stream.truncate(200 * 1024 * 1024)  # one line of zeros
        stream.seek(0, os.SEEK_END)
        stream.write(b'\n{"mark": 1}\n')
    tracemalloc.start()
    try:
        entries, counts = read(log, max_line=1024 * 1024)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (entries, counts.too_long) == ([{"mark": 1}], 1)
    assert peak < 8 * 1024 * 1024


def test_half_a_line_at_the_end_is_left_for_the_next_look(tmp_path):
    log = tmp_path / "log.jsonl"
    log.write_bytes(b'{"mark": 1}\n{"mark": 2')
    assert read(log)[0] == [{"mark": 1}]
    log.write_bytes(b'{"mark": 1}\n{"mark": 2}')
    entries, counts = read(log)
    assert entries == [{"mark": 1}, {"mark": 2}]
    assert counts.broken == 0


def test_what_is_no_file_of_its_own_is_not_opened(tmp_path):
    real = tmp_path / "real.jsonl"
    real.write_bytes(b'{"mark": 1}\n')
    (tmp_path / "link.jsonl").symlink_to(real)
    os.mkfifo(tmp_path / "pipe.jsonl")
    for name in ("link.jsonl", "pipe.jsonl", "gone.jsonl", "."):
        entries, counts = read(tmp_path / name)
        assert (entries, counts.unreadable) == ([], 1)
