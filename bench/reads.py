"""What a read costs the server: cached, conditional and uncached, beside bare routes that return the same bytes."""

import itertools
import random
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from cost import Cost, Subject, measure
from generate import sentence, skill_md
from load import ask, drive, get, post_archive, post_json
from results import table
from servers import Server, bare, postgres, skillyard

from skillyard.skill.archive import pack
from skillyard.skill.bundle import Bundle, BundleFile

ADMIN = "an-admin-token-for-the-benchmark"
TOKENS = {"auth": "token", "admin_token": ADMIN, "rate_limit": "1000000000"}
"""A server for many people, with every part at work that such a one has."""

_SKILLS = 60
_PAGE = "/api/v1/skills?limit=50"
_FLOORS = {
    "one skill, cached": "one skill",
    "one skill, 304": "304",
    "page of 50, cached": "page of 50",
    "one skill, uncached": "one skill",
    "page of 50, uncached": "page of 50",
}
"""Every kind of read, and the bare route that returns the same bytes."""
_LANES = (1, 8)
_fresh = itertools.count()


@dataclass(frozen=True, kw_only=True)
class Asker:
    """The requests of one person, to servers that share a store."""

    skill: str
    etag: str
    token: str = ""

    @classmethod
    def at(cls, server: Server, token: str = "") -> "Asker":
        found = ask(server.port, get("/api/v1/skills/by-name/skill-000", token=token))
        path = f"/api/v1/skills/{found.data['data']['id']}"
        return cls(skill=path, etag=ask(server.port, get(path, token=token)).header("etag"), token=token)

    def subjects(self, label: str, servers: Sequence[Server], *, requests: int, **more: int) -> list[Subject]:
        kinds: list[tuple[int, Callable[[], bytes], int]] = [
            (requests, lambda: get(self.skill, token=self.token), 200),
            (requests, lambda: get(self.skill, token=self.token, etag=self.etag), 304),
            (requests // 2, lambda: get(_PAGE, token=self.token), 200),
            # What was never asked before was never kept.
            (requests // 6, lambda: get(f"{self.skill}?n={next(_fresh)}", token=self.token), 200),
            (requests // 60, lambda: get(f"{_PAGE}&n={next(_fresh)}", token=self.token), 200),
        ]
        return [
            Subject(name=f"{label}, {kind}", servers=servers, request=request, status=status, count=count, **more)
            for kind, (count, request, status) in zip(_FLOORS, kinds, strict=True)
        ]


def bare_subjects(label: str, servers: Sequence[Server], *, lanes: int, requests: int) -> list[Subject]:
    paths = {
        "one skill": ("/api/v1/skills/54f0de95-131f-48de-bac8-3106e0c667a9", 200),
        "304": ("/api/v1/skills/same", 304),
        "page of 50": (_PAGE, 200),
    }
    return [
        Subject(
            name=f"{label}, {kind}",
            servers=servers,
            request=partial(get, path),
            status=status,
            lanes=lanes,
            count=requests,
        )
        for kind, (path, status) in paths.items()
    ]


def archive_of(name: str, rng: random.Random, *, others: int = 2, size: int = 4096) -> bytes:
    """A `.skill` file with a SKILL.md and other files of one size."""
    files = [BundleFile(f"references/part-{one}.md", sentence(rng, size).encode()[:size]) for one in range(others)]
    return pack(Bundle([BundleFile("SKILL.md", skill_md(rng, name).encode()), *files]), name)


def fill(server: Server, token: str = "") -> None:
    rng = random.Random(7)
    archives = [archive_of(f"skill-{number:03d}", rng) for number in range(_SKILLS)]
    drive([server.port], [post_archive(archive, token=token) for archive in archives], status=201)


def new_token(server: Server) -> str:
    """A person's own token, made with the first administrator's."""
    made = ask(server.port, post_json("/api/v1/tokens", {"label": "bench", "scope": "admin"}, token=ADMIN), status=201)
    return made.data["data"]["secret"]


def compare(scratch: Path, *, rounds: int, requests: int) -> str:
    """Bare routes, a local server, one for many people, the same on PostgreSQL and as two processes there, in turn."""
    with ExitStack() as stack:
        enter = stack.enter_context
        homes = {name: scratch / name for name in ("bare", "local", "token", "one", "two")}
        for home in homes.values():
            home.mkdir()
        local = enter(skillyard(homes["local"]))
        fill(local)
        at_local = Asker.at(local)
        shared = enter(skillyard(homes["token"], **TOKENS))
        at_shared = _filled(shared)
        address, pid = enter(postgres())
        store = {**TOKENS, "database_url": address, "blobs_url": str(scratch / "blobs")}
        one = enter(skillyard(homes["one"], **store))
        at_one = _filled(one)
        two = enter(skillyard(homes["two"], **store))
        (homes["bare"] / "skill.json").write_bytes(ask(local.port, get(at_local.skill)).body)
        (homes["bare"] / "list.json").write_bytes(ask(local.port, get(_PAGE)).body)
        floor, second = enter(bare(homes["bare"])), enter(bare(homes["bare"]))
        subjects: list[Subject] = []
        for lanes in _LANES:
            subjects += bare_subjects(f"bare x{lanes}", [floor], lanes=lanes, requests=requests)
            subjects += bare_subjects(f"bare two x{lanes}", [floor, second], lanes=2 * lanes, requests=requests)
            subjects += at_local.subjects(f"local x{lanes}", [local], lanes=lanes, requests=requests)
            subjects += at_shared.subjects(f"token x{lanes}", [shared], lanes=lanes, requests=requests)
            subjects += at_one.subjects(f"one x{lanes}", [one], lanes=lanes, postgres=pid, requests=requests)
            # As many under way at each server as at the one before.
            subjects += at_one.subjects(f"two x{lanes}", [one, two], lanes=2 * lanes, postgres=pid, requests=requests)
        costs = measure(subjects, rounds=rounds)
    return "\n\n".join((_beside_bare(costs), _beside_one(costs)))


def _filled(server: Server) -> Asker:
    """The first administrator fills a yard and goes on with a token of their own."""
    token = new_token(server)
    fill(server, token)
    return Asker.at(server, token)


def _beside_bare(costs: dict[str, Cost]) -> str:
    rows: list[list[str]] = []
    servers = {"local": "SQLite, local", "token": "SQLite, tokens", "one": "PostgreSQL, tokens"}
    for kind, floor in _FLOORS.items():
        for lanes in _LANES:
            bare_cost = costs[f"bare x{lanes}, {floor}"]
            name = f"{kind}, {lanes} at once"
            rows.append([f"{name}: bare FastAPI", f"{bare_cost.best:,.0f}", "1.00", "1.00"])
            for key, label in servers.items():
                cost = costs[f"{key} x{lanes}, {kind}"]
                best, median = cost.best / bare_cost.best, cost.median / bare_cost.median
                rows.append([f"{name}: {label}", f"{cost.best:,.0f}", f"{best:.2f}", f"{median:.2f}"])
    return table(["read", "CPU µs", "of bare", "by medians"], rows)


def _beside_one(costs: dict[str, Cost]) -> str:
    """The growth from one process to two, beside that of bare servers, which share nothing but the machine."""
    rows: list[list[str]] = []
    for kind, floor in _FLOORS.items():
        for lanes in _LANES:
            bare_one, bare_two = costs[f"bare x{lanes}, {floor}"], costs[f"bare two x{lanes}, {floor}"]
            one, two = costs[f"one x{lanes}, {kind}"], costs[f"two x{lanes}, {kind}"]
            rows.append(
                [
                    f"{kind}, {lanes} at once",
                    f"{one.best:,.0f}",
                    f"{two.best:,.0f}",
                    f"{two.best / one.best:.2f}",
                    f"{two.median / one.median:.2f}",
                    f"{bare_two.best / bare_one.best:.2f}",
                    f"{bare_two.median / bare_one.median:.2f}",
                    f"{min(one.database):,.0f}",
                    f"{min(two.database):,.0f}",
                ]
            )
    columns = ["PostgreSQL, CPU µs per read", "one process", "two", "growth", "by medians"]
    return table([*columns, "growth of bare", "by medians", "database", "with two"], rows)
