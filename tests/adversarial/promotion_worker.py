"""Promotes a candidate, and is killed before and after each of its writes.

`promotion_worker.py HOME CANDIDATE` makes a child for each place, one after the other, until one comes to its end; it
prints for each how many versions and releases there were before it, and how it ended.
"""

import os
import signal
import sys
from pathlib import Path

from skillyard import Skillyard
from skillyard.db.transaction import Transaction

MOST = 20
"""Writes, of which a promotion has far fewer."""


def kill_at(number, moment):
    """Have this process be killed `before` or `after` the write of that number is kept."""
    commit = Transaction.commit
    writes = 0

    async def counted(transaction):
        nonlocal writes
        writes += 1
        if (writes, moment) == (number, "before"):
            os.kill(os.getpid(), signal.SIGKILL)
        await commit(transaction)
        if (writes, moment) == (number, "after"):
            os.kill(os.getpid(), signal.SIGKILL)

    Transaction.commit = counted


def promote(home, candidate_id, number, moment):
    with Skillyard(home=Path(home)) as yard:
        key = yard.releases.candidate(candidate_id)["skill_key"]
        found = [one["id"] for one in yard.skills() if one["name"] == key]
        versions = sum(len(yard.versions(one)) for one in found)
        sys.stdout.write(f"{versions} {yard.releases.releases(skill_key=key)['total']} ")
        sys.stdout.flush()
        kill_at(number, moment)
        yard.releases.promote(candidate_id, stage="canary")


def main(home, candidate_id):
    for number, moment in ((number, moment) for number in range(1, MOST) for moment in ("before", "after")):
        child = os.fork()
        if child == 0:
            failed = True
            try:
                promote(home, candidate_id, number, moment)
                failed = False
            finally:
                os._exit(failed)
        _, status = os.waitpid(child, 0)
        ended = "killed" if os.WIFSIGNALED(status) else "failed" if os.WEXITSTATUS(status) else "done"
        sys.stdout.write(f"{ended}\n")
        sys.stdout.flush()
        if ended != "killed":
            return


if __name__ == "__main__":
    main(*sys.argv[1:])
