"""Whom sandboxes run as: never root, and under a root server each cargo as a user of its own."""

import os
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Final

from skillyard.errors import UnavailableError, UsageError

DEFAULT_UIDS: Final = range(700_000, 765_536)
"""Above the users of systems and directories, below the ranges that container tools hand out."""

_LARGEST: Final = 2**32 - 2


@dataclass(frozen=True, kw_only=True)
class Users:
    """The users that sandboxes may run as."""

    uids: range | None
    """None: as the user who runs the server, who is not root."""

    @classmethod
    def of(cls, uids: range) -> "Users":
        if not 0 < uids.start < uids.stop <= _LARGEST or uids.step != 1:
            raise UsageError(
                f"The users for sandboxes, {uids.start}-{uids.stop - 1}, are none, or not all in 1-{_LARGEST - 1}.",
                hint=f"Use the default: {DEFAULT_UIDS.start}-{DEFAULT_UIDS.stop - 1}",
            )
        return cls(uids=uids if os.geteuid() == 0 else None)

    def choose(self, owners: Iterable[int]) -> int | None:
        """A user for a new cargo, given the owners of all there are; None is whoever runs the server."""
        if self.uids is None:
            return None
        taken = set(owners)
        # From anywhere in the range: other yards of this machine, whose cargos are not known here, choose from it too.
        first = secrets.randbelow(len(self.uids))
        for uid in chain(self.uids[first:], self.uids[:first]):
            if uid not in taken:
                return uid
        raise UnavailableError(
            f"Each of the {len(self.uids):,} users for sandboxes has a cargo already.",
            hint="Delete cargos that are not needed, or widen the range in the setting 'sandbox_uids'.",
        )

    def owns(self, uid: int) -> bool:
        """Whether a workspace with this owner can be used."""
        return uid == os.geteuid() if self.uids is None else uid in self.uids
