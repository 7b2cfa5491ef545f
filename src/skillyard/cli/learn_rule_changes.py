"""`skillyard learn rules check`, `add`, `change` and `delete`: decision rules, made by hand with the same checks."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, cast

import typer

from skillyard.cli.learn_options import ForAgent, Private, RuleName, known_fields, read_file
from skillyard.cli.learn_rule_text import looked_over, print_report, print_rule_table
from skillyard.cli.learn_rules import found_rule
from skillyard.cli.learn_text import change_remarks, outputs_text, print_change, values_text
from skillyard.cli.options import DryRun, Token, Yes
from skillyard.cli.output import Answer, sink_of
from skillyard.cli.safe_text import inline
from skillyard.cli.text import BAD, GOOD, count, styled
from skillyard.cli.yard import InNamespace, Server, Why, yard_client
from skillyard.command_text import command_text
from skillyard.errors import UsageError
from skillyard.learning.rules.dmn_read import read_dmn
from skillyard.learning.rules.table import table_document

if TYPE_CHECKING:
    from rich.console import Console

RuleFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="JSON (a table, or a rule with one) or DMN XML; - is stdin.")
]
RuleLabel = Annotated[str | None, typer.Option("--name", metavar="NAME", help="What the rule is called.")]
About = Annotated[str | None, typer.Option("--description", metavar="TEXT", help="What it decides.")]
Merge = Literal["REPLACE", "EXTEND", "REFINE"]
MAX_RULE_FILE: Final = 8 * 1024 * 1024


def check(file: RuleFile) -> Answer:
    """Check a decision table without storing it.

    Exit code 1 when it would not decide: rows contradict each other where only one may hold.
    """
    table, found = looked_over(_read(file)["table"])

    def text(console: "Console") -> None:
        print_rule_table(console, table, found["remarks"])
        print_report(console, found)
        if not found["remarks"]:
            console.print(styled(("\n✓ Every case has one answer.", GOOD)))

    return Answer(document={**found, "table": table}, text=text, exit_code=0 if found["decides"] else 1)


def add(
    file: RuleFile,
    *,
    name: RuleLabel = None,
    description: About = None,
    agent: ForAgent = None,
    namespace: InNamespace = None,
    private: Private = False,
    reason: Why = "",
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Add a decision rule.

    Overlaps, and cases without an answer, are reported. A table that would not decide is refused.
    """
    visibility = "private" if private else None
    given = known_fields(name=name, description=description, agent_id=agent, namespace=namespace, visibility=visibility)
    fields = {**_read(file), **given}
    if not fields.get("name"):
        again = command_text("learn rules add", str(file), options=["--name", "NAME"])
        raise UsageError("The rule has no name.", hint=f"Give it one: {again}")
    with yard_client(server, token) as client:
        done = client.learning.create_rule(fields, reason=reason)
    return _changed(done)


def change(
    rule: RuleName,
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="The table as JSON or DMN XML; - is stdin.")
    ] = None,
    *,
    merge: Annotated[
        Merge,
        typer.Option(
            "--merge",
            metavar="MODE",
            help="REPLACE the table, EXTEND it with rows, or REFINE it with exceptions, which go first.",
        ),
    ] = "REPLACE",
    name: RuleLabel = None,
    description: About = None,
    lock: Annotated[
        bool | None, typer.Option("--lock/--unlock", help="Lock it (lessons may only propose changes), or unlock it.")
    ] = None,
    base: Annotated[
        str | None, typer.Option("--base", metavar="X.Y.Z", help="Only if this version is still in use.")
    ] = None,
    dry_run: DryRun = False,
    reason: Why = "",
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Change a decision rule.

    Past cases are tried on the new table: those with another result are reported, and a pinned one must keep its
    result.
    """
    fields = known_fields(name=name, description=description, locked=lock)
    if file is not None:
        fields |= {"table": _read(file)["table"], "merge_mode": merge}
    if not fields:
        raise UsageError("There is nothing to change.", hint="Give a FILE, --name, --description, --lock or --unlock.")
    with yard_client(server, token) as client:
        one = found_rule(client.learning, rule)
        if dry_run:
            if file is None:
                raise UsageError("--dry-run checks a table.", hint="Give a FILE.")
            asked = {"table": fields["table"], "rule_id": one["id"], "merge_mode": merge}
            return _preview(client.learning.check_rule(asked))
        done = client.learning.change_rule(one["id"], fields, base=base, reason=reason)
    return _changed(done)


def delete(
    context: typer.Context,
    rule: RuleName,
    *,
    reason: Why = "",
    yes: Yes = False,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Delete a decision rule; undo brings it back."""
    with yard_client(server, token) as client:
        one = found_rule(client.learning, rule)
        rows = count(len(one["table"]["rules"]), "row")
        sink_of(context).confirm(f"Delete the rule {one['name']} ({rows})?", yes=yes)
        done = client.learning.delete_rule(one["id"], reason=reason)
    return _changed(done)


def _preview(found: Mapping[str, Any]) -> Answer:
    """What a rule would become."""

    def text(console: "Console") -> None:
        print_rule_table(console, found["table"], found["remarks"])
        print_report(console, found)
        for name in ("added", "changed", "removed"):
            if found[name]:
                console.print(f"{name}: {inline(', '.join(found[name]))}", soft_wrap=True)
        for case in found["cases"]:
            pinned = ("pinned ", BAD) if case["pinned"] else ""
            came = f"{values_text(case['inputs'])}: {outputs_text(case['before'])} → {outputs_text(case['after'])}"
            console.print(styled(pinned, f"case {came}"), soft_wrap=True)

        if found["more_cases"]:
            console.print(f"{count(found['more_cases'], 'more case')} would change.", soft_wrap=True)
        if found["untried_cases"]:
            untried = count(found["untried_cases"], "past case")
            console.print(f"{untried} could not be tried: the table is too large.", soft_wrap=True)

    broken = any(case["pinned"] for case in found["cases"])
    return Answer(
        document=found,
        text=text,
        exit_code=0 if found["decides"] and not broken else 1,
        remarks=["Nothing was changed (--dry-run)."],
    )


def _changed(done: Mapping[str, Any]) -> Answer:
    return Answer(document=done, text=lambda console: print_change(console, done), remarks=change_remarks(done))


def _read(file: Path) -> dict[str, Any]:
    """A rule from a file: its table, and the name and description that it has there."""
    data = read_file(file, limit=MAX_RULE_FILE)
    text = data.decode("utf-8-sig", "replace")
    if text.lstrip().startswith("<"):
        name, table = read_dmn(data)
        return {"name": name, "table": table_document(table)}
    try:
        document = json.loads(text)
    except ValueError as error:
        raise UsageError(
            f"{file} is neither JSON nor XML: {error}.",
            hint='Write a table as {"hit_policy": "F", "inputs": [], "outputs": [], "rules": []}, or DMN XML.',
            details={"field": "file", "value": str(file)},
        ) from None
    if not isinstance(document, dict):
        raise UsageError(f"{file} does not hold a JSON object.", details={"field": "file", "value": str(file)})
    fields = cast("dict[str, Any]", document)
    return fields if "table" in fields else {"table": fields}
