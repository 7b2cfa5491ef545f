"""`skillyard learn memory`: what agents remember."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from skillyard.cli.amounts import until
from skillyard.cli.learn_options import ForAgent, MemoryId, OfAgent, Private, known_fields
from skillyard.cli.learn_text import change_remarks, print_change
from skillyard.cli.options import Token, Yes
from skillyard.cli.output import Answer, sink_of
from skillyard.cli.release_text import print_table, when
from skillyard.cli.safe_text import inline, one_line
from skillyard.cli.text import FAINT, styled
from skillyard.cli.yard import InNamespace, Server, Why, yard_client
from skillyard.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

Expires = Annotated[
    str | None, typer.Option("--expires", metavar="TIME", help="When it expires: a date, or 30d for thirty days.")
]


def list_memories(
    *,
    agent: OfAgent = None,
    every: Annotated[bool, typer.Option("--all", help="Also superseded and expired ones.")] = False,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """List memories.

    Newest first.
    """
    with yard_client(server, token) as client:
        found = list(client.learning.memories(agent=agent, everything=every))
    nothing = 'Nothing is remembered. Add something: skillyard learn memory add "…"'
    return Answer(
        document={"memories": found},
        text=lambda console: _print(console, found),
        remarks=[] if found else [nothing],
    )


def recall(
    words: Annotated[list[str], typer.Argument(metavar="WORDS", help="What it is about, in any language.")],
    *,
    agent: OfAgent = None,
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="NUMBER", min=1, max=50, help="Maximum number.")] = 10,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Find memories that fit a question.

    The best match comes first, as an agent gets it. Exit code 1 when nothing fits.
    """
    with yard_client(server, token) as client:
        found = list(client.learning.recall(" ".join(words), agent=agent, limit=limit))
    return Answer(
        document={"query": " ".join(words), "memories": found},
        text=lambda console: _print(console, found),
        exit_code=0 if found else 1,
        remarks=[] if found else ["No memory fits."],
    )


def add(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to remember.")],
    *,
    agent: ForAgent = None,
    expires: Expires = None,
    namespace: InNamespace = None,
    private: Private = False,
    reason: Why = "",
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Add a memory."""
    with yard_client(server, token) as client:
        done = client.learning.remember(
            text,
            agent=agent,
            expires_at=until(expires, "--expires"),
            namespace=namespace,
            visibility="private" if private else "public",
            reason=reason,
        )
    return _changed(done)


def change(
    memory: MemoryId,
    text: Annotated[str | None, typer.Argument(metavar="TEXT", help="What to remember instead.")] = None,
    *,
    expires: Expires = None,
    lock: Annotated[
        bool | None, typer.Option("--lock/--unlock", help="Lock it (lessons may only propose changes), or unlock it.")
    ] = None,
    reason: Why = "",
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Change a memory.

    The old one is kept, superseded by the new one.
    """
    fields = known_fields(text=text, expires_at=until(expires, "--expires"), locked=lock)
    if not fields:
        raise UsageError("There is nothing to change.", hint="Give a new TEXT, --expires, --lock or --unlock.")
    with yard_client(server, token) as client:
        done = client.learning.change_memory(memory, fields, reason=reason)
    return _changed(done)


def forget(
    context: typer.Context,
    memory: MemoryId,
    *,
    reason: Why = "",
    yes: Yes = False,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Forget a memory; undo brings it back."""
    with yard_client(server, token) as client:
        one = client.learning.memory(memory)
        sink_of(context).confirm(f"Forget “{one_line(one['text'])}”?", yes=yes)
        done = client.learning.forget(memory, reason=reason)
    return _changed(done)


def judge(
    memory: MemoryId,
    verdict: Annotated[Literal["helpful", "harmful"], typer.Argument(metavar="VERDICT", help="helpful or harmful.")],
    *,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Count that a memory helped, or did harm."""
    with yard_client(server, token) as client:
        done = client.learning.judge(memory, verdict)
    said = f"{done['id']}  helped {done['helpful']} times, did harm {done['harmful']} times."
    return Answer(document=done, text=lambda console: console.print(inline(said), soft_wrap=True))


def _changed(done: Mapping[str, Any]) -> Answer:
    return Answer(document=done, text=lambda console: print_change(console, done), remarks=change_remarks(done))


def _print(console: "Console", found: Sequence[Mapping[str, Any]]) -> None:
    rows = [
        (
            styled((one["id"], "bold")),
            inline(one["agent_id"] or "everyone"),
            styled((when(one["created_at"]), FAINT)),
            styled((_standing(one), "yellow")),
            _judged(one),
            one_line(one["text"]),
        )
        for one in found
    ]
    print_table(console, rows)


def _standing(one: Mapping[str, Any]) -> str:
    parts = [f"superseded by {one['superseded_by']}"] if one["superseded_by"] else []
    parts += [f"until {one['expires_at'][:10]}"] if one["expires_at"] else []
    return ", ".join([*parts, *(["locked"] if one["locked"] else [])])


def _judged(one: Mapping[str, Any]) -> str:
    return f"+{one['helpful']} -{one['harmful']}" if one["helpful"] or one["harmful"] else ""
