"""A promotion that is killed at each of its writes, and repeated: the end is as if it had not been."""

import subprocess
import sys
from pathlib import Path

from skillyard import Skillyard

WORKER = Path(__file__).with_name("promotion_worker.py")
STEPS = {"kind": "code", "steps": [{"type": "shell", "cmd": "echo hello"}]}


def candidate(yard, key):
    sandbox = yard.sandboxes.create()["id"]
    seen = yard.sandboxes.shell(sandbox, "echo seen")["execution_id"]
    ref = yard.releases.payloads.create(STEPS, kind="code")["payload_ref"]
    made = yard.releases.create_candidate(skill_key=key, source_execution_ids=[seen], payload_ref=ref)
    yard.releases.evaluate(made["id"], passed=True)
    return made["id"]


def state(yard, key):
    """What can be seen of a skill, but its ids, times and name."""
    (release,) = yard.releases.releases(skill_key=key)["items"]
    told = [one for one in yard.history(limit=200) if key in one["subject"]["label"]]
    return {
        "release": {name: release[name] for name in ("version", "stage", "is_active", "release_mode")},
        "versions": [(one["version"], one["state"], one["tags"]) for one in yard.versions(key)],
        "history": [(one["action"], one["subject"]["label"].replace(key, "it")) for one in told],
    }


def test_a_promotion_that_is_killed_at_each_write_and_repeated_ends_as_if_it_were_not(
    tmp_path, database_url, monkeypatch
):
    monkeypatch.setenv("SKILLYARD_DATABASE_URL", database_url)
    home = tmp_path / "yard"
    with Skillyard(home=home) as yard:
        yard.releases.promote(candidate(yard, "unharmed"), stage="canary")
        killed = candidate(yard, "killed")
    command = [sys.executable, WORKER, home, killed]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    versions, releases, ends = zip(*(line.split() for line in said), strict=True)
    assert ends == (*["killed"] * (len(said) - 1), "done")
    assert len(said) > 2
    assert versions == releases, "a version that no release is of"
    with Skillyard(home=home) as yard:
        again = yard.releases.promote(killed, stage="canary")
        assert again["id"] == yard.releases.releases(skill_key="killed")["items"][0]["id"]
        assert state(yard, "killed") == state(yard, "unharmed")
