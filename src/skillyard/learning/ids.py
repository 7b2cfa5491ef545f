"""Ids of this room: a word and 12 hexadecimal digits."""

import hashlib
import secrets


def new_id(word: str) -> str:
    return f"{word}-{secrets.token_hex(6)}"


def lesson_key(lesson_id: str, turn: int) -> str:
    """The key of one turn of learning a lesson; an undone lesson gets a new one, so its effects happen again."""
    return f"{lesson_id}.{turn}" if turn else lesson_id


def proposal_of_lesson(lesson_id: str, turn: int) -> str:
    """The id of what a lesson proposes."""
    return id_of("prop", lesson_key(lesson_id, turn))


def id_of(word: str, *of: str) -> str:
    """The id of what comes of something: the same each time, so that doing it again finds it there."""
    digest = hashlib.sha256("\0".join(of).encode()).hexdigest()
    return f"{word}-{digest[:12]}"
