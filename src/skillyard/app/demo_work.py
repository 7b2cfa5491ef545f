"""The task of the demonstration: ordering in a shop, with a browser or, where there is none, with shell commands."""

import re
import secrets
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, Self

from skillyard.app.demo_site.pages import Layout
from skillyard.app.demo_site.shop import Shop
from skillyard.errors import SkillyardError
from skillyard.releases.decisions.evaluation import EvaluationPolicy
from skillyard.remote.client import YardClient
from skillyard.sandbox.browser_lines import quoted

PASSED: Final = "passed"
FAILED: Final = "failed"
_ENOUGH: Final = EvaluationPolicy().least_runs
_LABELS: Final = re.compile(r'^\s*- \w+ "([^"]*)" \[ref=(e\d+)\]', re.MULTILINE)
_SCRIPT: Final = """\
cat > order.sh <<'END'
for option; do case $before in
--user) u=$option;; --password) p=$option;; --customer) c=$option;; --article) a=$option;; --quantity) q=$option;;
esac; before=$option; done
[ -n "$u" ] && [ -n "$p" ] || { echo "nobody is signed in" >&2; exit 1; }
[ "$q" -gt 0 ] || { echo "nothing is ordered: the quantity is $q" >&2; exit 1; }
printf '%s, %s pieces, for %s\\n' "$a" "$q" "$c" | tee -a orders.txt
END"""


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Visit:
    """What one person enters."""

    user: str
    password: str
    customer: str
    article: str
    quantity: int


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Trial:
    """A replay with new values: what is special about it, and the values of its variables."""

    name: str
    title: str
    values: Mapping[str, str]
    runs: int = 1


class Work(Protocol):
    """The task, done in one way."""

    kind: str
    title: str
    trials: tuple[Trial, ...]

    def sandbox(self) -> str:
        """One to do it in."""
        ...

    def do(self, sandbox_id: str, visit: Visit) -> None:
        """Do it once, by hand."""
        ...

    def arrange(self, trial: Trial) -> None:
        """Make the world as that trial wants it."""
        ...

    def outcome(self) -> str:
        """What came of the last replay, seen from outside."""
        ...


def make_visits() -> tuple[Visit, ...]:
    """Three people; their passwords are made up anew each time, so that nothing can have them by accident."""
    return (
        _visit("mina", "Park and Sons", "Teapot", 2),
        _visit("jonas", "Café Nord", "Cups, set of six", 4),
        _visit("aiko", "喫茶 青", "Kettle", 1),
    )


def _visit(user: str, customer: str, article: str, quantity: int) -> Visit:
    password = secrets.token_urlsafe(12)
    return Visit(user=user, password=password, customer=customer, article=article, quantity=quantity)


class BrowserWork:
    """Signing in and ordering in a browser: look at the page, act on what is there, look again."""

    kind = "browser"
    title = "Signing in to a shop and ordering"

    def __init__(self, yard: YardClient, visits: Sequence[Visit]) -> None:
        self._yard = yard
        someone = _visit("lena", "Hotel Süd", "Tray", 12)
        self._shop = Shop({visit.user: visit.password for visit in (*visits, someone)})
        values = {
            "user_name": someone.user,
            "password": someone.password,
            "customer": someone.customer,
            "article": someone.article,
            "quantity": str(someone.quantity),
        }
        self.trials: tuple[Trial, ...] = (
            Trial(name=FAILED, title="Replayed after the shop lost the field for the quantity:", values=values),
            Trial(
                name=PASSED,
                title="Replayed with new values, after the shop moved every field:",
                values=values,
                runs=_ENOUGH,
            ),
        )

    def __enter__(self) -> Self:
        self._shop.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._shop.__exit__()

    def sandbox(self) -> str:
        return self._yard.sandboxes.create(profile="browser-python", allow=[self._shop.url])["id"]

    def do(self, sandbox_id: str, visit: Visit) -> None:
        page = self._take(sandbox_id, f"open {self._shop.url}/")
        page = self._take(
            sandbox_id,
            f"fill {page['User name']} {quoted(visit.user)}",
            f"fill {page['Password']} {quoted(visit.password)}",
            f"click {page['Sign in']}",
        )
        self._take(
            sandbox_id,
            f"fill {page['Customer']} {quoted(visit.customer)}",
            f"fill {page['Article']} {quoted(visit.article)}",
            f"fill {page['Quantity']} {quoted(str(visit.quantity))}",
            f"click {page['Place order']}",
            'wait --text "is placed"',
        )

    def arrange(self, trial: Trial) -> None:
        self._shop.layout = Layout.REORDERED if trial.name == PASSED else Layout.BROKEN

    def outcome(self) -> str:
        order = self._shop.orders[-1]
        what = f"{order.article}, {order.quantity} pieces, for {order.customer}"
        return f"the shop has order {order.number} of {order.user}: {what}."

    def _take(self, sandbox_id: str, *steps: str) -> dict[str, str]:
        """Take steps, look, and give the ref of each element by its name."""
        done = self._yard.sandboxes.browse(sandbox_id, [*steps, "snapshot -i"], trace=True)
        if not done["success"]:
            raise SkillyardError(f"A step in the browser failed: {done['results'][-1]['stderr']}")
        return {name: f"@{ref}" for name, ref in _LABELS.findall(done["results"][-1]["stdout"])}


class ShellWork:
    """Ordering with a small script, which the first step writes."""

    kind = "shell"
    title = "Ordering with a script"

    def __init__(self, yard: YardClient) -> None:
        self._yard = yard
        someone = _visit("lena", "Hotel Süd", "Tray", 12)
        values = {
            "user": someone.user,
            "password": someone.password,
            "customer": someone.customer,
            "article": someone.article,
        }
        self.trials: tuple[Trial, ...] = (
            Trial(name=FAILED, title="Replayed with a quantity of 0:", values={**values, "quantity": "0"}),
            Trial(name=PASSED, title="Replayed with new values:", values={**values, "quantity": "12"}, runs=_ENOUGH),
        )

    def sandbox(self) -> str:
        return self._yard.sandboxes.create()["id"]

    def do(self, sandbox_id: str, visit: Visit) -> None:
        who = ["--user", visit.user, "--password", visit.password]
        what = ["--customer", visit.customer, "--article", visit.article, "--quantity", str(visit.quantity)]
        for line in (_SCRIPT, shlex.join(["sh", "order.sh", *who, *what])):
            done = self._yard.sandboxes.shell(sandbox_id, line)
            if not done["success"]:
                raise SkillyardError(f"A command failed: {done['error']}")

    def arrange(self, trial: Trial) -> None:
        """Nothing: what is wrong is a value."""

    def outcome(self) -> str:
        return "every step did as before."
