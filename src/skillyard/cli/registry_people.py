"""`skillyard registry`: who may use a yard, and what they may do there."""

from typing import Annotated, Any, Final, Literal, cast

import typer

from skillyard.cli.options import Token
from skillyard.cli.output import Answer
from skillyard.cli.safe_text import inline
from skillyard.cli.text import print_rows, styled
from skillyard.cli.yard import Server, Why, yard_client
from skillyard.command_text import command_text
from skillyard.errors import InputError, UsageError
from skillyard.identity.directory import MAX_TOKEN_DAYS
from skillyard.identity.policy import Policy

_ANY: Final = "any"
"""How a list that sets no limit is written."""
Namespace = Annotated[str, typer.Argument(metavar="NAMESPACE", help="The namespace's name.")]
Person = Annotated[str, typer.Argument(metavar="PERSON", help="The person's name.")]


def whoami(*, server: Server = None, token: Token = None) -> Answer:
    """Show who you are in the yard.

    And what you may do: the scope of your token and your roles.
    """
    with yard_client(server, token) as client:
        me = client.me()
    rows = [("name", me["name"]), ("tenant", me["tenant"]["name"]), ("scope", me["scope"])]
    rows.extend((f"role in {one['name']}", one["role"]) for one in me["namespaces"])
    return Answer(document=me, text=lambda console: print_rows(console, rows))


def create_token(
    label: Annotated[str, typer.Argument(metavar="LABEL", help="What it is for, such as ci.")],
    *,
    scope: Annotated[
        Literal["read", "write", "publish", "admin"],
        typer.Option("--scope", metavar="SCOPE", help="What it may do at most: read, write, publish or admin."),
    ] = "read",
    days: Annotated[
        int | None,
        typer.Option("--days", metavar="NUMBER", min=1, max=MAX_TOKEN_DAYS, help="Days until it expires."),
    ] = None,
    person: Annotated[
        str | None, typer.Option("--person", metavar="NAME", help="Whose; default: yours. Others' need an admin.")
    ] = None,
    reason: Why = "",
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Create a token. It is shown this once: only a hash of it is kept."""
    with yard_client(server, token) as client:
        made = client.people.create_token(label, scope=scope, days=days, person=person, reason=reason)
    return Answer(
        document=made,
        text=lambda console: console.print(made["secret"], soft_wrap=True),
        remarks=["Keep it: it cannot be shown again. Use it as SKILLYARD_TOKEN or with --token."],
    )


def list_tokens(
    *,
    everyone: Annotated[bool, typer.Option("--everyone", help="All tokens of the tenant; for its admins.")] = False,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """List your tokens, without their secrets."""
    with yard_client(server, token) as client:
        found = client.people.tokens(everyone=everyone)
    whose = [(inline(one["person"]),) if everyone else () for one in found]
    rows = [
        (one["id"], *person, inline(one["label"]), one["scope"], _life(one), _used(one))
        for one, person in zip(found, whose, strict=True)
    ]
    return Answer(
        document={"tokens": found},
        text=lambda console: print_rows(console, rows, cut=False),
        remarks=[] if found else ["There are no tokens. Make one: skillyard registry tokens create LABEL"],
    )


def revoke_token(
    token_id: Annotated[str, typer.Argument(metavar="ID", help="The token's id, as `tokens list` shows it.")],
    *,
    keep_made: Annotated[bool, typer.Option("--keep-made", help="Keep the tokens that were created with it.")] = False,
    reason: Why = "",
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Revoke a token, and those that were created with it."""
    with yard_client(server, token) as client:
        done = client.people.revoke_token(token_id, keep_made=keep_made, reason=reason)
    return Answer(document=done, text=lambda console: console.print(f"Revoked the token {inline(done['label'])}."))


def list_namespaces(*, server: Server = None, token: Token = None) -> Answer:
    """List the namespaces you are in, and your role."""
    with yard_client(server, token) as client:
        found = client.people.namespaces()
    rows = [(styled((inline(one["name"]), "bold")), one["kind"], one["role"]) for one in found]
    return Answer(document={"namespaces": found}, text=lambda console: print_rows(console, rows))


def create_namespace(name: Namespace, *, reason: Why = "", server: Server = None, token: Token = None) -> Answer:
    """Create a team.

    You administer it.
    """
    with yard_client(server, token) as client:
        made = client.people.create_namespace(name, reason=reason)
    return Answer(document=made, text=lambda console: console.print(f"Created the team {inline(made['name'])}."))


def members(name: Namespace, *, server: Server = None, token: Token = None) -> Answer:
    """List who is in a namespace."""
    with yard_client(server, token) as client:
        found = client.people.members(name)
    rows = [(inline(one["name"]), one["role"]) for one in found]
    return Answer(document={"members": found}, text=lambda console: print_rows(console, rows))


def set_member(
    name: Namespace,
    person: Person,
    role: Annotated[
        Literal["viewer", "editor", "publisher", "admin", "none"],
        typer.Argument(metavar="ROLE", help="viewer, editor, publisher or admin; none removes them."),
    ],
    *,
    reason: Why = "",
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Give a person a role in a team.

    The role `none` removes them.
    """
    with yard_client(server, token) as client:
        client.people.set_member(name, person, None if role == "none" else role, reason=reason)
        found = client.people.members(name)
    rows = [(inline(one["name"]), one["role"]) for one in found]
    return Answer(document={"members": found}, text=lambda console: print_rows(console, rows))


def policy(
    name: Namespace,
    rules: Annotated[
        list[str] | None, typer.Argument(metavar="RULE=VALUE", help="Rules to set, such as profile=strict review=true.")
    ] = None,
    *,
    reason: Why = "",
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Show or set what a namespace requires of new versions.

    With rules, sets them; the others stay as they are. `waive.RULE=REASON` accepts what one rule of the scan finds;
    `waive.RULE=` refuses it again.
    """
    with yard_client(server, token) as client:
        present = client.people.namespace(name)["policy"]
        if rules:
            wanted = dict(present)
            for rule in rules:
                key, value = _rule(rule, wanted)
                wanted[key] = value
            present = client.people.set_policy(name, wanted, reason=reason)["policy"]
    rows = [(key, _written(value)) for key, value in present.items()]
    return Answer(document={"policy": present}, text=lambda console: print_rows(console, rows))


def tenant_policy(
    rules: Annotated[
        list[str] | None, typer.Argument(metavar="RULE=VALUE", help="discoverable=true or discoverable=false.")
    ] = None,
    *,
    reason: Why = "",
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Show or set what the people of the tenant may do.

    It holds whatever their namespaces say. discoverable: whether all publishers may show skills to the world;
    administrators always may.
    """
    with yard_client(server, token) as client:
        present = client.people.tenant_policy()
        if rules:
            wanted = dict(present)
            for rule in rules:
                key, sign, value = rule.partition("=")
                if not sign or key not in present or value not in {"true", "false"}:
                    raise UsageError(f"{rule!r} is not a rule.", hint="Use discoverable=true or discoverable=false.")
                wanted[key] = value == "true"
            present = client.people.set_tenant_policy(wanted, reason=reason)
    rows = [(key, _written(value)) for key, value in present.items()]
    return Answer(document={"policy": present}, text=lambda console: print_rows(console, rows))


def list_people(*, server: Server = None, token: Token = None) -> Answer:
    """List the people of the tenant."""
    with yard_client(server, token) as client:
        found = client.people.people()
    rows = [
        (styled((inline(one["name"]), "bold")), "admin" if one["admin"] else "", "disabled" if one["disabled"] else "")
        for one in found
    ]
    return Answer(document={"people": found}, text=lambda console: print_rows(console, rows))


def create_person(
    name: Person,
    *,
    admin: Annotated[bool, typer.Option("--admin", help="They administer the tenant.")] = False,
    reason: Why = "",
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Add a person to the tenant."""
    with yard_client(server, token) as client:
        made = client.people.create_person(name, admin=admin, reason=reason)
    token_command = command_text("registry tokens create", "LABEL", options=["--person", name, "--scope", "publish"])
    return Answer(
        document=made,
        text=lambda console: console.print(f"Created the person {inline(made['name'])}."),
        remarks=[f"Make them a token: {token_command}"],
    )


def disable_person(name: Person, *, reason: Why = "", server: Server = None, token: Token = None) -> Answer:
    """Disable a person: their tokens and sessions no longer work. Their skills stay."""
    with yard_client(server, token) as client:
        done = client.people.disable(name, reason=reason)
    text = f"{inline(done['name'])} is disabled: their tokens and sessions no longer work. Their skills stay."
    return Answer(document=done, text=lambda console: console.print(text, soft_wrap=True))


def enable_person(name: Person, *, reason: Why = "", server: Server = None, token: Token = None) -> Answer:
    """Enable a person who was disabled."""
    with yard_client(server, token) as client:
        done = client.people.enable(name, reason=reason)
    return Answer(document=done, text=lambda console: console.print(f"{inline(done['name'])} is enabled again."))


def _life(token: dict[str, Any]) -> str:
    if token["revoked_at"]:
        return "revoked"
    return f"until {token['expires_at'][:10]}" if token["expires_at"] else "no end"


def _used(token: dict[str, Any]) -> str:
    return f"used {token['last_used_at'][:10]}" if token["last_used_at"] else "never used"


def _rule(text: str, present: dict[str, Any]) -> tuple[str, Any]:
    """A rule as it was typed, in the type that it has."""
    key, sign, value = text.partition("=")
    if sign and key.startswith("waive."):
        reasons = {**present["waive"], key.removeprefix("waive."): value}
        waived = {code: why for code, why in reasons.items() if why}
        try:
            return "waive", dict(Policy.read({"waive": waived}).waive)
        except InputError as error:
            raise UsageError(
                f"{text!r} is not a rule.", hint="Write waive.RULE=REASON, where RULE is a rule of the scan."
            ) from error
    if not sign or key not in present or key == "waive":
        raise UsageError(
            f"{text!r} is not a rule.", hint=f"Write RULE=VALUE, where the rule is one of: {', '.join(present)}."
        )
    typed = _typed(value, present[key])
    try:
        Policy.read({key: typed})
    except InputError as error:
        hint = f"Use {_ANY}, or endings such as .md,.py." if isinstance(typed, list) else error.hint
        raise UsageError(f"{key} cannot be {value!r}.", hint=hint) from None
    return key, typed


def _typed(value: str, like: Any) -> Any:  # noqa: ANN401 -- any JSON
    if isinstance(like, bool):
        return {"true": True, "false": False}.get(value, value)
    if isinstance(like, int):
        return int(value) if value.isdecimal() else value
    if isinstance(like, list):
        return [] if value == _ANY else [part for part in value.split(",") if part]
    return value


def _written(value: Any) -> str:  # noqa: ANN401 -- any JSON
    if isinstance(value, list):
        return ",".join(cast("list[str]", value)) or _ANY
    if isinstance(value, dict):
        return "; ".join(f"{code}: {why}" for code, why in cast("dict[str, str]", value).items()) or "none"
    return str(value).lower() if isinstance(value, bool) else str(value)
