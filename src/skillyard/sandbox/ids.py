"""Names for what this room keeps: a word that says what it is, and 12 hexadecimal digits."""

import os
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["sandbox", "cargo", "exec", "sess", "blob", "host", "home"]


def new_id(kind: Kind) -> str:
    return f"{kind}-{os.urandom(6).hex()}"
