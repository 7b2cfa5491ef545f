"""Prints the sentences of the services that the web pages cannot say in a language yet, as lines for a translator.

`scripts/messages.py ko learning` prints what `server/web/messages/ko/learning.toml` lacks; without a room, how many
each room lacks.
"""

import ast
import json
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from functools import cache
from itertools import product
from pathlib import Path
from typing import TypeGuard

SOURCE = Path(__file__).parent.parent / "src" / "skillyard"
CATALOGUES = SOURCE / "server" / "web" / "messages"
LANGUAGES = ("ko", "zh")

UNSEEN = {
    "Only commands and other programs are told this; pages show nothing of it.": (
        "__init__.py __main__.py cancellation.py clock.py client.py files.py imports.py redact.py cli/* remote/*",
        "agents/[!c]* agents/c[!l]* delivery/[!bimrps]* delivery/backend_place.py delivery/sandbox_loader.py",
        "delivery/remove.py delivery/sync.py delivery/merge.py delivery/skills_lock.py delivery/source*.py",
        "library/[!dejk]* library/jsonc.py library/kernel_watch.py library/builtin/* search/[!ev]* search/engine.py",
        "app/auditing.py app/demo* app/followers.py app/installing.py app/libraries.py app/loading.py app/packing.py",
        "app/reading.py app/similarity.py app/switching.py app/validation.py",
        "identity/agent_file.py registry/agent_plans.py registry/discovery.py registry/git_pack.py",
        "registry/marketplace.py registry/artifacts.py",
        "learning/taking.py learning/sources/place_fields.py learning/sources/service.py learning/sources/source.py",
        "learning/skill_wish.py learning/proposal_diffs.py",
        "releases/candidate_spec.py releases/commands_document.py releases/outcome_reports.py",
        "releases/payload_json.py releases/payload_steps.py agents/clients/trial.py",
        "sandbox/browser_steps.py sandbox/imported_*.py",
        "server/mcp/* server/yard/* server/marketplace.py server/discovery.py server/library_api.py server/index.py",
        "server/idempotency.py server/probes.py server/run.py server/serving.py server/metrics.py server/local.py",
        "server/sign_in/oidc_settings.py server/json_text.py server/protocol.py",
    ),
    "This is the text of skills and of what is sent to models, or words that are looked for in such text.": (
        "skill/scaffold.py skill/diff.py skill/formatter.py skill/prompt.py skill/signature.py skill/models.py",
        "skill/scan/context.py skill/library.py",
        "learning/skills/prompts.py learning/skills/artifact.py learning/skills/finishing.py",
        "releases/rendering/* releases/mining/[!g]* releases/placeholders.py releases/replay/patterns.py",
        "llm/scripted.py llm/texts.py llm/transcripts.py sandbox/capture/*",
    ),
    "This is what runs inside a sandbox, or between it and the host, and is told to what runs there.": (
        "sandbox/guest/[!fp]* sandbox/guest/py* sandbox/guest/frames.py sandbox/proxy/* sandbox/docker/bootstrap.py",
        "sandbox/docker/container.py sandbox/local/inside.py sandbox/local/syscalls.py sandbox/local/cgroup_janitor.py",
        "sandbox/local/metadata_broker.py sandbox/escapes/[!p]* sandbox/escapes/pro[cg]*",
        "sandbox/escapes/probe_world.py",
    ),
    "This speaks with the database or describes settings.": (
        "db/counter.py db/migrations/* db/postgres_* db/session_* db/sqlite_* config/settings.py [!l]*/models.py",
        "learning/models.py",
    ),
}
"""Modules whose words no page shows, by the reason."""

_ERRORS_ONLY = "server/*"
"""Routes describe themselves to programs in many words; what people are told there are errors."""
_NOT_SAID = re.compile(
    r"re\.\w+|command_text|cast|field|Field|Query|_log\.\w+|text|SQL|[\w.]*\.execute|HumanMessage|sys\.exit|\w+\.strftime|"
    r"(Value|Type|Assertion|Runtime|OS|Lookup|FileExists|ConnectionReset|WrongToken)Error"
)
"""Calls whose texts are for developers, for logs or for machines."""
_NOT_SAID_AS = {"anchors", "description", "expression", "follows", "inside", "leads", "looks_for", "nearby", "usage"}
"""Arguments that no page shows, by their names."""
_COMPARED = {
    *("Traceback (most recent call last)", "Skill is valid", "already in use", "ignore prev", "Fill in a PDF form."),
    *("while parsing a flow sequence", "while parsing a flow mapping", "while scanning a quoted scalar"),
    *("is not on the page any more", "nothing like it appeared", "the secret"),
    "That is not of the schema: {0} Answer again with the JSON object alone.",
    "The arguments of {0} were not JSON, so nothing was done. Call it again.",
}
"""Texts that others say and that are looked for, and what only models are told."""
_WORD = re.compile(r"(?:^|[ `'\"(])[a-z]{2,}(?=[ .,;:!?'\")]|$)|^[A-Z][a-z]+:? `?0")
_CODE = re.compile(
    r"[\\\n]|\(\?|\[\^|&&| \? |0 [!=]= |[A-Z]{3,} [A-Z]{3,}|^[-<>@#|\"/]|^\w+\(|^[A-Z_]+=|^(?:Bearer|SELECT) |"
    r"^(?:skillyard|docker|systemctl|sysctl|apt-get|chmod|mkdir|mktemp|unset|export|pip|python3?|import|GET|POST) |"
    r"^(?:find|get|git|mv|ls|rm|cd|base64) (?:[-/0]|url|clone|checkout|tag)"
)
_FIELD = re.compile(r"\{\d*(?:![rs])?(?::[^{}]*)?\}")
_Choices = Mapping[str, ast.IfExp]


@cache
def templates() -> Mapping[str, frozenset[str]]:
    """What the services say to people, by the file that translates it: one for each room, one for what several say."""
    said: dict[str, set[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        place = path.relative_to(SOURCE).as_posix()
        if not any(fnmatch(place, each) for lines in UNSEEN.values() for line in lines for each in line.split()):
            room = place.partition("/")[0].removesuffix(".py")
            found = _Said(errors_only=fnmatch(place, _ERRORS_ONLY)).in_module(path.read_text(encoding="utf-8"))
            said.setdefault(room, set()).update(found)
    rooms = Counter(template for each in said.values() for template in each)
    shared = {template for template, count in rooms.items() if count > 1}
    by_room = {room: frozenset(each - shared) for room, each in said.items() if each - shared}
    return {"common": frozenset(shared), **by_room}


class _Said:
    """The texts of a module that may be said to people."""

    def __init__(self, *, errors_only: bool) -> None:
        self._errors_only = errors_only

    def in_module(self, source: str) -> set[str]:
        found = (_numbered(each) for each in self._below(ast.parse(source), {}, is_error=False))
        return {each for each in found if _is_prose(each)}

    def _below(self, node: ast.AST, choices: _Choices, *, is_error: bool) -> Iterator[str]:
        """The texts below a node, each as a whole and in all the ways it may read."""
        if _is_text(node):
            if is_error or not self._errors_only:
                yield from _ways(node, choices)
                for value in ast.walk(node):
                    if isinstance(value, ast.FormattedValue) and not _alternatives(value.value, choices):
                        yield from self._below(value.value, choices, is_error=is_error)
            return
        if isinstance(node, ast.Call) and _is_stripped(node.func):
            # What it ends with may be nothing, and is a message of its own where it is one.
            yield from (way.removesuffix(" {}") for way in self._below(node.func.value, choices, is_error=is_error))
            return
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            choices = _choices_in(node)
        for child, is_in_error in self._children(node, choices, is_error=is_error):
            yield from self._below(child, choices, is_error=is_in_error)

    def _children(self, node: ast.AST, choices: _Choices, *, is_error: bool) -> Iterator[tuple[ast.AST, bool]]:
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if not _NOT_SAID.fullmatch(name):
                is_error = is_error or name.endswith("Error") or name in {"refuse", "super().__init__"}
                if isinstance(node.func, ast.Attribute) and not _is_text(node.func.value):
                    yield node.func.value, is_error
                yield from ((each, is_error) for each in node.args)
                yield from ((each.value, is_error) for each in node.keywords if each.arg not in _NOT_SAID_AS)
        elif not _is_docstring(node) and not (isinstance(node, ast.Assign) and node.value in choices.values()):
            for field, value in ast.iter_fields(node):
                if field not in {"annotation", "returns", "slice", "comparators", "decorator_list"}:
                    children = value if isinstance(value, list) else [value]
                    yield from ((each, is_error) for each in children if isinstance(each, ast.AST))


def _ways(node: ast.AST, choices: _Choices) -> list[str]:
    """All ways in which a text may read, with `{}` where values come in."""
    if isinstance(node, ast.Constant):
        return [_FIELD.sub("{}", str(node.value))]
    if isinstance(node, ast.JoinedStr):
        return ["".join(parts) for parts in product(*(_ways(each, choices) for each in node.values))]
    if isinstance(node, ast.BinOp):
        return ["".join(parts) for parts in product(_ways(node.left, choices), _ways(node.right, choices))]
    alternatives = _alternatives(node.value if isinstance(node, ast.FormattedValue) else node, choices)
    return [way for each in alternatives for way in _ways(each, choices)] or ["{}"]


def _alternatives(node: ast.AST, choices: _Choices) -> list[ast.AST]:
    """The two texts that a value is one of."""
    choice = choices.get(node.id) if isinstance(node, ast.Name) else node
    if isinstance(choice, ast.IfExp) and _is_text(choice.body) and _is_text(choice.orelse):
        return [choice.body, choice.orelse]
    return []


def _choices_in(function: ast.AST) -> _Choices:
    """The names that stand for one of two texts, and only inside other texts."""
    nodes = list(ast.walk(function))
    inside = [id(node.value) for node in nodes if isinstance(node, ast.FormattedValue)]
    alone = {node.id for node in nodes if isinstance(node, ast.Name) and _is_read(node) and id(node) not in inside}
    return {
        target.id: node.value
        for node in nodes
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.IfExp) and _alternatives(node.value, {})
        for target in node.targets
        if isinstance(target, ast.Name) and target.id not in alone
    }


def _is_read(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_text(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Add) and (_is_text(node.left) or _is_text(node.right))
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_stripped(called: ast.AST) -> TypeGuard[ast.Attribute]:
    return isinstance(called, ast.Attribute) and called.attr in {"strip", "rstrip"} and _is_text(called.value)


def _numbered(text: str) -> str:
    first, *others = text.strip().removesuffix(":").split("{}")
    return first + "".join(f"{{{number}}}{part}" for number, part in enumerate(others))


def _is_prose(template: str) -> bool:
    words = _FIELD.sub("0", template)
    return " " in words and bool(_WORD.search(words)) and not _CODE.search(words) and template not in _COMPARED


def catalogue(language: str, room: str) -> Mapping[str, str]:
    path = CATALOGUES / language / f"{room}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def missing(language: str, room: str) -> list[str]:
    return sorted(templates().get(room, frozenset()) - set(catalogue(language, room)))


def main(arguments: list[str]) -> None:
    match arguments:
        case [language, room] if language in LANGUAGES and room in templates():
            for template in missing(language, room):
                print(f'{json.dumps(template, ensure_ascii=False)} = ""')
        case []:
            for room, said in sorted(templates().items()):
                lacks = ", ".join(f"{len(missing(each, room))} missing in {each}" for each in LANGUAGES)
                print(f"{room}: {len(said)} messages, {lacks}")
        case _:
            sys.exit(f"Usage: messages.py [{'|'.join(LANGUAGES)} ROOM], with one of: {', '.join(sorted(templates()))}")


if __name__ == "__main__":
    main(sys.argv[1:])
