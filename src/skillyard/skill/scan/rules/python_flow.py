"""Follows Python data to where it goes: through variables, and into and out of the functions of one file."""

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from skillyard.skill.scan.rules.exfiltration import NEVER_SENT
from skillyard.skill.scan.rules.hosts import Host, host_in
from skillyard.skill.scan.rules.python_values import NOTHING, READ, Origin, Value, dotted_name, known_text, text_value

_NEVER_SENT: Final = frozenset(NEVER_SENT.removeprefix("(?:").removesuffix(")").split("|"))


_PARAMETER: Final = "="
"""Before the name of a parameter, among origins."""


class Sink(StrEnum):
    """Where data can go that matters."""

    NETWORK = "network"
    CODE = "code"
    OBJECTS = "objects"
    SHELL = "shell"
    FILE = "file"
    CLIPBOARD = "clipboard"


@dataclass(frozen=True, kw_only=True, slots=True)
class Arrival:
    """Data of an origin that reached a sink, or a name that is put together where it is used."""

    line: int
    origin: str
    sink: Sink | None = None
    name: str = ""


_SENDERS: Final = frozenset({
    "post", "put", "patch", "request", "send", "sendall", "sendto", "sendmail", "send_message", "urlopen",
    "upload_file", "storbinary",
})  # fmt: skip
_GETTERS: Final = frozenset({
    "requests.get", "httpx.get", "session.get", "urllib.request.urlopen", "urlopen", "urllib2.urlopen",
    "request.urlopen", "requests.request", "urllib.request.urlretrieve",
})  # fmt: skip
_LOOKUPS: Final = frozenset({"socket.gethostbyname", "socket.getaddrinfo", "dns.resolver.resolve", "gethostbyname"})
_UNPICKLERS: Final = frozenset({
    "pickle.loads", "pickle.load", "cPickle.loads", "dill.loads", "cloudpickle.loads", "marshal.loads",
})  # fmt: skip
_SHELLS: Final = frozenset({
    "os.system", "os.popen", "subprocess.run", "subprocess.call", "subprocess.Popen", "subprocess.check_output",
    "subprocess.check_call",
})  # fmt: skip
_COPIES: Final = frozenset({"shutil.copy", "shutil.copy2", "shutil.copyfile", "shutil.move", "os.rename", "os.replace"})
_READERS: Final = frozenset({"open", "io.open", "sqlite3.connect", "os.open"})
_READING_METHODS: Final = frozenset({"read_text", "read_bytes", "open"})
_COOKIE_JARS: Final = frozenset({"browser_cookie3", "browsercookie", "rookiepy"})
_NAMERS: Final = frozenset({"getattr", "__import__", "importlib.import_module", "import_module"})
DANGEROUS: Final = frozenset({
    "system", "popen", "exec", "eval", "compile", "os", "subprocess", "socket", "b64decode", "base64", "builtins",
    "__import__", "run", "spawn", "ctypes", "requests", "urllib", "marshal", "pickle", "environ",
})  # fmt: skip
"""Names that are only put together from pieces to hide them."""
_SENDING_PROGRAMS: Final = ("curl ", "wget ", "nc ", "ncat ")
_ASIDE: Final = frozenset({
    "auth", "cert", "verify", "timeout", "cookies", "env", "proxies", "context", "stderr", "cwd",
})  # fmt: skip
"""Arguments of a request that authenticate, or stay on this machine."""
_PROOF: Final = frozenset({"headers", *_ASIDE})
_SILENT: Final = frozenset({
    "len", "print", "bool", "type", "isinstance", "hash", "id", "int", "float", "os.path.exists", "os.path.isfile",
    "os.stat",
})  # fmt: skip
_SILENT_METHODS: Final = frozenset({
    "exists", "is_file", "is_dir", "stat", "hexdigest", "digest", "keys", "mkdir", "json", "raise_for_status",
    "debug", "info", "warning", "error",
})  # fmt: skip
_SILENT_PARTS: Final = frozenset({"status_code", "ok", "headers", "reason", "url", "parent", "name", "suffix", "stem"})
_OWNERS: Final = ("googleapis.com", "github.com", "amazonaws.com", "pypi.org", "docker.io", "docker.com")
"""Services that a login may be sent to: it is theirs."""


@dataclass(kw_only=True, slots=True)
class _Summary:
    """What calling a function of the file does with what it is given."""

    gives: frozenset[str] = frozenset()
    sinks: set[tuple[str, Sink]] = field(default_factory=set[tuple[str, Sink]])
    parameters: tuple[str, ...] = ()


class Flows:
    """Reads one module twice: to learn what its functions do, and then to see what reaches a sink."""

    def __init__(self) -> None:
        self.arrivals: dict[Arrival, None] = {}
        self._summaries: dict[str, _Summary] = {}
        self._names: defaultdict[str, Value] = defaultdict(lambda: NOTHING)
        self._attributes: defaultdict[str, Value] = defaultdict(lambda: NOTHING)
        self._known: dict[int, Value] = {}
        self._summary = _Summary()
        self._depth = 0

    def read(self, tree: ast.Module) -> list[Arrival]:
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        for _ in range(2):
            self._names.clear()
            self._summary = _Summary()
            self._walk(tree.body)
            shared = dict(self._names)
            for function in functions:
                self._read_function(function, shared)
        return [arrival for arrival in self.arrivals if arrival.origin in set(Origin) or arrival.sink is None]

    def _read_function(self, function: ast.FunctionDef | ast.AsyncFunctionDef, shared: dict[str, Value]) -> None:
        arguments = function.args
        names = [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
        self._summary = _Summary(parameters=tuple(name for name in names if name not in {"self", "cls"}))
        self._names.clear()
        self._names.update(shared)
        self._names.update({name: Value(frozenset({_PARAMETER + name})) for name in self._summary.parameters})
        self._walk(function.body)
        self._summaries[function.name] = self._summary

    def _walk(self, statements: Iterable[ast.stmt]) -> None:
        for statement in statements:
            self._known.clear()
            try:
                self._step(statement)
            except RecursionError:
                continue

    def _step(self, statement: ast.stmt) -> None:  # noqa: C901, PLR0912 -- one case for each kind of statement
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return
            case ast.Assign(targets=targets, value=value):
                self._assign(targets, self._value(value))
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign([target], self._value(value))
            case ast.AugAssign(target=target, value=value):
                self._assign([target], self._value(target) | self._value(value))
            case ast.ImportFrom(module="os", names=names):
                for one in names:
                    if one.name == "environ":
                        self._names[one.asname or one.name] = Value(frozenset({Origin.ENVIRONMENT}))
            case ast.Return(value=ast.expr() as value):
                self._summary.gives |= self._value(value).origins
            case ast.For(target=target, iter=iterated) | ast.AsyncFor(target=target, iter=iterated):
                self._assign([target], Value(self._value(iterated).origins))
            case ast.With(items=items) | ast.AsyncWith(items=items):
                for item in items:
                    value = self._value(item.context_expr)
                    if item.optional_vars is not None:
                        self._assign([item.optional_vars], value)
            case _:
                for child in ast.iter_child_nodes(statement):
                    if isinstance(child, ast.expr):
                        self._value(child)
        self._depth += 1
        for block in _blocks(statement):
            self._walk(block)
        self._depth -= 1

    def _assign(self, targets: Sequence[ast.expr], value: Value) -> None:
        for target in targets:
            match target:
                case ast.Tuple(elts=elements) | ast.List(elts=elements):
                    self._assign(elements, Value(value.origins))
                case ast.Starred(value=inner):
                    self._assign([inner], value)
                case ast.Name(id=name):
                    self._names[name] = value | self._names[name] if self._depth else value
                case ast.Attribute():
                    self._attributes[dotted_name(target)] |= value
                case ast.Subscript(value=ast.Name(id=name)):
                    self._names[name] = Value(self._names[name].origins | value.origins)
                case _:
                    pass

    def _value(self, node: ast.expr) -> Value:
        known = self._known.get(id(node))
        if known is None:
            known = self._known[id(node)] = self._evaluate(node)
        return known

    def _evaluate(self, node: ast.expr) -> Value:
        match node:
            case ast.Name(id=name):
                return self._names[name]
            case ast.Attribute(value=inner, attr=attribute):
                name = dotted_name(node)
                if name == "os.environ":
                    return Value(frozenset({Origin.ENVIRONMENT}))
                held = self._attributes[name] | Value(self._value(inner).origins)
                return NOTHING if attribute in _SILENT_PARTS and not _is_path(held) else held
            case ast.Call():
                return self._call(node)
            case ast.Subscript(value=inner, slice=key) if Origin.ENVIRONMENT in self._value(inner).origins:
                return _variable(self._value(key).text)
            case ast.Compare() | ast.Lambda():
                return NOTHING
            case ast.NamedExpr(target=target, value=value):
                self._assign([target], self._value(value))
                return self._value(value)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(node)
            case _:
                text = known_text(node, self._value)
                return text or Value(
                    frozenset[str]().union(*(self._value(child).origins for child in _expressions(node)))
                )

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Value:
        for part in node.generators:
            self._assign([part.target], Value(self._value(part.iter).origins))
        made = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        return Value(frozenset[str]().union(*(self._value(one).origins for one in made)))

    def _call(self, node: ast.Call) -> Value:
        name = dotted_name(node.func)
        method = node.func.attr if isinstance(node.func, ast.Attribute) else name
        receiver = self._value(node.func.value) if isinstance(node.func, ast.Attribute) else self._value(node.func)
        given = [self._value(argument) for argument in node.args]
        keywords = {keyword.arg or "": self._value(keyword.value) for keyword in node.keywords}
        self._reach(node, name, method, receiver, given, keywords)
        if Origin.ENVIRONMENT in receiver.origins and method in {"get", "pop", "setdefault"}:
            return _variable(given[0].text if given else "")
        if name in {"os.getenv", "getenv"}:
            return _variable(given[0].text if given else "")
        if name in _SILENT or (method in _SILENT_METHODS and not (_is_path(receiver) or method == "json")):
            return NOTHING
        made = self._result_of(node, name, method, receiver, given, keywords)
        return known_text(node, self._value) or Value(made)

    def _result_of(
        self, node: ast.Call, name: str, method: str, receiver: Value, given: list[Value], keywords: dict[str, Value]
    ) -> frozenset[str]:
        """The value that a call returns."""
        if name.partition(".")[0] in _COOKIE_JARS:
            return frozenset({Origin.COOKIES})
        everything = [receiver, *given, *(value for key, value in keywords.items() if key not in _PROOF)]
        origins = frozenset[str]().union(*(value.origins for value in everything))
        if name in _READERS or method in _READING_METHODS:
            origins |= {read for path, read in READ.items() if path in origins}
        if name in _GETTERS:
            host = host_in(b'"' + " ".join(value.text for value in given).encode() + b'"')
            if host in {Host.UNKNOWN, Host.SUSPECT}:
                return frozenset({Origin.DOWNLOAD})
            return frozenset({Origin.FETCHED}) if host is Host.NONE else frozenset()
        if method == "json":
            return origins - {Origin.DOWNLOAD, Origin.FETCHED}
        if name in _COPIES and len(node.args) > 1 and isinstance(node.args[1], ast.Name):
            self._names[node.args[1].id] |= Value(given[0].origins)
        summary = self._summaries.get(method)
        if summary is not None and (name == method or name.startswith(("self.", "cls."))):
            return self._pass_arguments(node, summary, given, keywords)
        return origins

    def _pass_arguments(
        self, node: ast.Call, summary: _Summary, given: list[Value], keywords: dict[str, Value]
    ) -> frozenset[str]:
        """What a function of the file returns, and what it does with its arguments."""
        passed = {
            _PARAMETER + name: value
            for name, value in (*zip(summary.parameters, given, strict=False), *keywords.items())
        }
        for parameter, sink in summary.sinks:
            self._arrive(node, passed.get(parameter, NOTHING).origins, sink)
        through = (passed[origin].origins for origin in summary.gives if origin in passed)
        return frozenset(origin for origin in summary.gives if origin in set(Origin)).union(*through)

    def _reach(  # noqa: C901 -- one case for each kind of sink
        self,
        node: ast.Call,
        name: str,
        method: str,
        receiver: Value,
        given: list[Value],
        keywords: dict[str, Value],
    ) -> None:
        """Notes what arrives at a sink in one call."""
        first = given[0] if given else NOTHING
        if (method in _SENDERS or name in _GETTERS or name in _LOOKUPS) and not _is_process(name):
            self._arrive(node, self._sent_origins([*given, *_but(keywords, _ASIDE)]), Sink.NETWORK)
            self._arrive(node, self._body_origins(given, keywords), Sink.NETWORK)
        elif name in _SHELLS and first.text.startswith(_SENDING_PROGRAMS):
            self._arrive(node, first.origins, Sink.NETWORK)
        elif name in {"exec", "eval", "builtins.exec", "builtins.eval"}:
            self._arrive(node, first.origins, Sink.CODE)
        elif name in _UNPICKLERS:
            self._arrive(node, first.origins, Sink.OBJECTS)
        elif name in _SHELLS and not first.text:
            self._arrive(node, first.origins, Sink.SHELL)
        elif name in {"pyperclip.copy", "clipboard.copy"}:
            self._arrive(node, first.origins, Sink.CLIPBOARD)
        elif method in {"write_text", "write_bytes"}:
            self._arrive(node, receiver.origins, Sink.FILE)
        elif name in _COPIES and len(given) > 1:
            self._arrive(node, given[1].origins, Sink.FILE)
        elif name in _READERS or method == "open":
            path, mode = (receiver, given[:1]) if method == "open" and name not in _READERS else (first, given[1:2])
            written = (mode[0] if mode else keywords.get("mode", NOTHING)).text
            if not set("wax+").isdisjoint(written):
                self._arrive(node, path.origins, Sink.FILE)
        elif name in _NAMERS:
            self._name_in_pieces(node, given)

    def _sent_origins(self, values: Iterable[Value]) -> frozenset[str]:
        """The origins that no part of a request may carry, headers included."""
        origins = frozenset[str]().union(*(value.origins for value in values))
        return frozenset(
            origin for origin in origins if origin in {Origin.ENVIRONMENT, Origin.KEYS} or origin not in set(Origin)
        )

    def _body_origins(self, given: list[Value], keywords: dict[str, Value]) -> frozenset[str]:
        """The origins outside the headers of a request, without a login for the service that it goes to."""
        values = [*given, *_but(keywords, _PROOF)]
        origins = frozenset[str]().union(*(value.origins for value in values))
        address = " ".join(value.text for value in values)
        owned = {Origin.LOGINS, Origin.SECRET} if any(owner in address for owner in _OWNERS) else set[Origin]()
        return origins - owned

    def _name_in_pieces(self, node: ast.Call, given: list[Value]) -> None:
        pieces = [
            value
            for value, argument in zip(given[:2], node.args, strict=False)
            if value.in_pieces and (value.text in DANGEROUS or not isinstance(argument, ast.Name))
        ]
        if pieces:
            self.arrivals[Arrival(line=node.lineno, origin="pieces", name=pieces[-1].text)] = None

    def _arrive(self, node: ast.Call, origins: frozenset[str], sink: Sink) -> None:
        for origin in sorted(origins):
            if origin.startswith(_PARAMETER):
                self._summary.sinks.add((origin, sink))
            else:
                self.arrivals[Arrival(line=node.lineno, origin=origin, sink=sink)] = None


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(statement, name, None)
        if isinstance(block, list):
            yield block
    for handler in getattr(statement, "handlers", ()):
        yield handler.body
    for case in getattr(statement, "cases", ()):
        yield case.body


def _expressions(node: ast.expr) -> Iterator[ast.expr]:
    return (child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr))


def _but(keywords: dict[str, Value], left_out: frozenset[str]) -> list[Value]:
    return [value for name, value in keywords.items() if name not in left_out]


def _is_path(value: Value) -> bool:
    return any(origin.endswith("-path") for origin in value.origins)


def _is_process(name: str) -> bool:
    return name.startswith("subprocess.")


def _variable(name: str) -> Value:
    """What one variable of the environment holds."""
    if name.lower() in _NEVER_SENT:
        return Value(frozenset({Origin.SECRET}))
    return text_value("~") if name in {"HOME", "USERPROFILE"} else NOTHING
