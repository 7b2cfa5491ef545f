import os
from pathlib import Path

import pytest

from skillyard.file_lock import lock, lock_now


def test_a_file_is_held_by_one_until_it_is_closed(tmp_path: Path):
    first, second = (os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT) for _ in range(2))
    lock(first)
    with pytest.raises(BlockingIOError):
        lock_now(second)
    os.close(first)
    lock_now(second)
    os.close(second)
