"""What the guest knows of the processes that it started."""

import json
import subprocess
import sys

from skillyard.sandbox.link.guest_files import guest_folder

FAMILY = """
import json, os, subprocess, sys
sys.path.insert(0, sys.argv[1])
import processes

parent = subprocess.Popen(["sh", "-c", "sleep 600 & echo $!; wait"], stdout=subprocess.PIPE, text=True)
child = int(parent.stdout.readline())
killed = []
kill = os.kill
os.kill = lambda pid, number: (killed.append(pid), kill(pid, number))
left = processes.kill_everything()
parent.wait()
print(json.dumps({"left": left, "killed": killed, "family": [child, parent.pid]}))
"""


def test_what_was_started_is_killed_before_what_started_it():
    done = subprocess.run(
        [sys.executable, "-I", "-c", FAMILY, str(guest_folder())], capture_output=True, text=True, check=True
    )
    told = json.loads(done.stdout)
    assert told["killed"] == told["family"]
    assert told["left"] == 2
