import subprocess
import sys

from skillyard.sandbox.local.outside import end_abandoned
from skillyard.sandbox.local.runtime import Runtime, abandoned

DIES = """
import sys, os, signal, subprocess
from pathlib import Path
from skillyard.sandbox.local.runtime import MARK, Runtime
kept = Runtime.make(Path(sys.argv[1]), "left")
environment = {"PATH": os.defpath, MARK: "left"}
subprocess.Popen(["sh", "-c", "echo $$; exec sleep 1000"], env=environment, start_new_session=True)
"""


def test_a_folder_is_held_as_long_as_its_sandbox_runs(tmp_path):
    runtime = Runtime.make(tmp_path / "runtime", "one-two")
    assert runtime.sandbox_id == "one-two"
    assert runtime.temporary().stat().st_mode & 0o777 == 0o700
    assert list(abandoned(tmp_path / "runtime", [])) == []
    runtime.remove()
    assert not runtime.folder.exists()


def test_a_folder_with_closed_folders_in_it_is_removed(tmp_path):
    runtime = Runtime.make(tmp_path, "one")
    (runtime.temporary() / "closed" / "in").mkdir(parents=True)
    (runtime.temporary() / "closed").chmod(0)
    runtime.remove()
    assert not runtime.folder.exists()


def test_what_a_dead_server_left_is_ended_and_what_is_to_be_kept_is_not(tmp_path):
    with subprocess.Popen([sys.executable, "-c", DIES, str(tmp_path)], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout.readline().strip().isdigit()
        server.wait()
        assert end_abandoned(tmp_path, ["left"]) == 0
        assert end_abandoned(tmp_path, []) == 1
        assert server.stdout.read() == ""  # its end is the end of the last that held it
    assert list(tmp_path.iterdir()) == []
