"""`skillyard learn rules`: decision rules, read and put to use."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skillyard.cli.learn_options import OfAgent, RuleName, named
from skillyard.cli.learn_rule_text import POLICIES, looked_over, print_report, print_rule_table
from skillyard.cli.learn_text import outputs_text, values_text
from skillyard.cli.options import Token, pairs
from skillyard.cli.output import Answer
from skillyard.cli.release_options import json_file
from skillyard.cli.release_text import print_facts, print_table, when
from skillyard.cli.safe_text import inline, one_line
from skillyard.cli.text import FAINT, count, styled
from skillyard.cli.yard import Server, yard_client
from skillyard.errors import NotFoundError, UsageError
from skillyard.files import replace_file

if TYPE_CHECKING:
    from rich.console import Console

    from skillyard.remote.learning import LearningClient


def list_rules(*, agent: OfAgent = None, server: Server = None, token: Token = None) -> Answer:
    """List the decision rules."""
    with yard_client(server, token) as client:
        found = list(client.learning.rules(agent=agent))
    rows = [
        (
            styled((one["id"], "bold")),
            inline(one["name"]),
            one["version"],
            inline(one["agent_id"] or "everyone"),
            count(len(one["table"]["rules"]), "row"),
            styled(("locked" if one["locked"] else "", "yellow")),
            styled((one_line(one["description"]), FAINT)),
        )
        for one in found
    ]
    return Answer(
        document={"rules": found},
        text=lambda console: print_table(console, rows),
        remarks=[] if found else ["There are none. Add one: skillyard learn rules add FILE"],
    )


def show_rule(rule: RuleName, *, server: Server = None, token: Token = None) -> Answer:
    """Read a decision rule as a table.

    Rows that overlap, rows that never apply and cases that no row covers are marked.
    """
    with yard_client(server, token) as client:
        one = found_rule(client.learning, rule)
    table, found = looked_over(one["table"])

    def text(console: "Console") -> None:
        print_facts(
            console,
            {
                "rule": one["id"],
                "name": one["name"],
                "version": f"{one['version']}{', locked' if one['locked'] else ''}",
                "for": one["agent_id"] or "every agent",
                "about": one_line(one["description"]),
                "hit policy": f"{table['hit_policy']}: {POLICIES[table['hit_policy']]}",
                "changed": when(one["updated_at"]),
            },
        )
        console.print()
        print_rule_table(console, table, found["remarks"])
        print_report(console, found)

    return Answer(document={**one, "report": found}, text=text)


def evaluate(
    rule: RuleName,
    *,
    value: Annotated[
        list[str] | None, typer.Option("--input", "-i", metavar="NAME=VALUE", help="An input; repeatable.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--inputs", metavar="FILE", help="The inputs as a JSON object; - is stdin.")
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep/--no-keep", help="Keep the case, to try it on later versions of the rule.")
    ] = True,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Decide a case.

    Exit code 1 when no row holds.
    """
    with yard_client(server, token) as client:
        one = found_rule(client.learning, rule)
        inputs = dict(json_file(file, "--inputs")) if file is not None else {}
        inputs |= _typed(one["table"], pairs(value or (), "--input", hint="Write it as --input grade=vip"))
        _require_inputs(one, inputs)
        done = client.learning.evaluate_rule(one["id"], inputs, keep=keep)
    decided = done["outputs"] not in (None, [])
    by = "by default" if done["by_default"] else f"row {', '.join(done['counted'])}"

    def text(console: "Console") -> None:
        told = styled((f"{by} of {inline(one['name'])} {one['version']}", FAINT)) if decided else ""
        console.print(styled(outputs_text(done["outputs"]), "  ", told), soft_wrap=True)

    return Answer(
        document={**done, "rule": one["id"], "inputs": inputs},
        text=text,
        exit_code=0 if decided else 1,
        remarks=[] if decided else [f"Which cases have no answer: skillyard learn rules show {one['id']}"],
    )


def cases(rule: RuleName, *, server: Server = None, token: Token = None) -> Answer:
    """List the cases that a rule decided.

    They are tried on any table that would replace it: the pinned ones must keep their result.
    """
    with yard_client(server, token) as client:
        one = found_rule(client.learning, rule)
        found = list(client.learning.rule_cases(one["id"]))
    rows = [
        (
            styled((case["id"], "bold")),
            styled(("pinned" if case["pinned"] else "", "green")),
            values_text(case["inputs"]),
            f"→ {outputs_text(case['outputs'])}",
            styled((f"{count(case['times'], 'time')}, {when(case['last_at'])}", FAINT)),
        )
        for case in found
    ]
    nothing = f"It decided none yet: skillyard learn rules evaluate {one['id']} --input NAME=VALUE"
    return Answer(
        document={"rule": one["id"], "cases": found},
        text=lambda console: print_table(console, rows),
        remarks=[] if found else [nothing],
    )


def pin(
    rule: RuleName,
    case: Annotated[str, typer.Argument(metavar="CASE", help="Its id, as `learn rules cases` shows it.")],
    *,
    off: Annotated[bool, typer.Option("--off", help="It no longer has to hold.")] = False,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Keep a case as an example that must hold."""
    with yard_client(server, token) as client:
        one = found_rule(client.learning, rule)
        if case not in {each["id"] for each in client.learning.rule_cases(one["id"])}:
            raise NotFoundError(
                f"The rule {one['name']!r} decided no case {case!r}.",
                hint=f"List them: skillyard learn rules cases {one['id']}",
                details={"field": "case", "value": case},
            )
        client.learning.pin_case(one["id"], case, pinned=not off)
    said = f"{inline(case)} {'no longer has to hold' if off else 'must hold from now on'}."
    return Answer(
        document={"rule": one["id"], "case": case, "pinned": not off},
        text=lambda console: console.print(said, soft_wrap=True),
    )


def versions(rule: RuleName, *, server: Server = None, token: Token = None) -> Answer:
    """List the versions of a rule, newest first."""
    with yard_client(server, token) as client:
        one = found_rule(client.learning, rule)
        found = list(client.learning.rule_versions(one["id"]))
    rows = [
        (
            styled((each["version"], "bold")),
            styled(("in use" if each["version"] == one["version"] else "", "green")),
            f"lesson {each['lesson_id']}" if each["lesson_id"] else "by hand",
            styled((when(each["created_at"]), FAINT)),
            styled((each["digest"], FAINT)),
        )
        for each in found
    ]
    return Answer(document={"rule": one["id"], "versions": found}, text=lambda console: print_table(console, rows))


def export(
    rule: RuleName,
    *,
    dmn: Annotated[bool, typer.Option("--dmn", help="As DMN 1.3 XML; without it, as JSON that `add` takes.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to this file; default: stdout.")
    ] = None,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Write a rule into one file, as JSON or as DMN XML."""
    with yard_client(server, token) as client:
        one = found_rule(client.learning, rule)
        own = {name: one[name] for name in ("name", "description", "agent_id", "table")}
        written = client.learning.rule_dmn(one["id"]) if dmn else json.dumps(own, ensure_ascii=False, indent=2) + "\n"
    if output is not None:
        replace_file(output, written.encode(), mode=0o644)

    def text(console: "Console") -> None:
        if output is not None:
            console.print(inline(str(output)), soft_wrap=True)
        else:
            sys.stdout.write(written)

    content = {"dmn": written} if dmn else own
    return Answer(
        document={"rule": one["id"], "version": one["version"], "file": output and str(output), **content}, text=text
    )


def found_rule(learning: "LearningClient", wanted: str) -> Mapping[str, Any]:
    """The rule with this id or name."""
    try:
        return learning.rule(wanted)
    except NotFoundError:
        one = named(learning.rules(), wanted, "rule")
        if one is None:
            raise
        return one


def _require_inputs(rule: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
    columns: Sequence[Mapping[str, Any]] = rule["table"]["inputs"]
    missing = [column["id"] for column in columns if column["id"] not in inputs and not column.get("optional")]
    if missing:
        words = " ".join(f"--input {name}=VALUE" for name in missing)
        raise UsageError(
            f"The rule {rule['name']!r} needs {', '.join(missing)}.",
            hint=f"Give what is missing: {words}",
            details={"field": "inputs", "value": missing},
        )


def _typed(table: Mapping[str, Any], given: Mapping[str, str]) -> dict[str, Any]:
    """Inputs as their columns have them; what is not known is for the rule to refuse."""
    kinds = {column["id"]: column["type"] for column in table["inputs"]}
    return {name: _value(name, text, kinds.get(name, "string")) for name, text in given.items()}


def _value(name: str, text: str, kind: str) -> Any:  # noqa: ANN401 -- any JSON
    if kind in {"string", "date"}:
        return text
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    is_right = isinstance(value, bool) if kind == "boolean" else type(value) in {int, float}
    if not is_right:
        example = "true" if kind == "boolean" else "80000"
        raise UsageError(
            f"--input {name}: {text!r} is not a {kind}.",
            hint=f"Write it as --input {name}={example}.",
            details={"field": name, "value": text},
        )
    return value
