"""Ids of this room: a word and 12 hexadecimal digits."""

import hashlib
import secrets


def new_id(word: str) -> str:
    return f"{word}-{secrets.token_hex(6)}"


def id_of(word: str, *of: str) -> str:
    """The id of what comes of something: the same each time, so that doing it again finds it there."""
    digest = hashlib.sha256("\0".join(of).encode()).hexdigest()
    return f"{word}-{digest[:12]}"
