import io
import sys
from pathlib import Path

import pytest

from skillyard.cli.learn_options import read_file
from skillyard.errors import LimitError


def test_more_on_stdin_than_is_read_is_refused_and_not_cut(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"four")))
    assert read_file(Path("-"), limit=4) == b"four"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"fifth")))
    with pytest.raises(LimitError, match="more than 4 bytes"):
        read_file(Path("-"), limit=4)
