"""`skillyard learn lock` and `unlock`: skills that only a person changes."""

from skillyard.cli.options import Token
from skillyard.cli.output import Answer
from skillyard.cli.safe_text import inline
from skillyard.cli.yard import Name, Server, Why, yard_client
from skillyard.command_text import command_text


def lock(name: Name, *, reason: Why = "", server: Server = None, token: Token = None) -> Answer:
    """Lock a skill against learning.

    What is learned from feedback is then only proposed for it, and waits for approval.
    """
    with yard_client(server, token) as client:
        skill = client.lock(name, reason=reason)
    said = f"{skill['full_name']} is locked: what is learned is only proposed for it."
    return Answer(
        document=skill,
        text=lambda console: console.print(inline(said), soft_wrap=True),
        remarks=[f"Unlock it: {command_text('learn unlock', skill['full_name'])}"],
    )


def unlock(name: Name, *, reason: Why = "", server: Server = None, token: Token = None) -> Answer:
    """Unlock a skill.

    What is learned from feedback changes it again, if the settings allow that.
    """
    with yard_client(server, token) as client:
        skill = client.lock(name, locked=False, reason=reason)
    still = skill["metadata"].get("learning") == "locked"
    remark = "Its SKILL.md still says 'learning: locked' in its metadata: remove that to unlock it."
    return Answer(
        document=skill,
        text=lambda console: console.print(f"{inline(skill['full_name'])} is no longer locked.", soft_wrap=True),
        remarks=[remark] if still else [],
    )
