"""What a page of a long list costs: the first, one in the middle, the last, and one's own few among very many."""

import itertools
import sys
from pathlib import Path

from cost import Subject, measure
from crowd import add_skills
from load import ask, get, post_json
from reads import ADMIN, TOKENS
from results import table
from servers import Server, postgres, skillyard

_TEAMS = 10
_OWN = 20
_PAGE = 50
_fresh = itertools.count()


def compare(scratch: Path, *, skills: int, rounds: int, requests: int) -> str:
    rows: list[list[str]] = []
    rows += _on(scratch / "sqlite", "SQLite", "", skills=skills, rounds=rounds, requests=requests)
    with postgres() as (address, _pid):
        rows += _on(scratch / "postgres", "PostgreSQL", address, skills=skills, rounds=rounds, requests=requests)
    return table([f"a page of {_PAGE} of {skills:,} skills", "CPU ms", "of the first"], rows)


def _on(home: Path, label: str, address: str, *, skills: int, rounds: int, requests: int) -> list[list[str]]:
    home.mkdir()
    store = {"database_url": address or f"sqlite:///{home / 'registry.sqlite'}"}
    with skillyard(home, **TOKENS, **store) as server:
        teams = [f"team-{number}" for number in range(_TEAMS)]
        for team in teams:
            _post(server, "/api/v1/namespaces", {"name": team})
        _post(server, "/api/v1/people", {"name": "keeper"})
        secret = _post(server, "/api/v1/tokens", {"label": "bench", "scope": "admin", "person": "keeper"})["secret"]
        add_skills(store["database_url"], ["keeper"], _OWN)

        def page(name: str, token: str, cursor: str = "") -> Subject:
            path = f"/api/v1/skills?limit={_PAGE}&cursor={cursor}" if cursor else f"/api/v1/skills?limit={_PAGE}"
            return Subject(
                name=name,
                servers=[server],
                request=lambda: get(f"{path}&n={next(_fresh)}", token=token),  # never asked before
                count=requests,
            )

        few = page("few", secret)
        alone = measure([few], rounds=rounds)["few"]
        add_skills(store["database_url"], teams, skills)
        middle, last = _walk(server, at_least=skills)
        subjects = [
            page("first", ADMIN),
            page("middle", ADMIN, middle),
            page("last", ADMIN, last),
            few,
        ]
        costs = measure(subjects, rounds=rounds)
    first = costs["first"].best
    return [
        [f"{label}: {name} page, who sees all", f"{costs[name].best / 1000:.2f}", f"{costs[name].best / first:.2f}"]
        for name in ("first", "middle", "last")
    ] + [
        [f"{label}: own {_OWN}, with nobody else's there", f"{alone.best / 1000:.2f}", ""],
        [f"{label}: own {_OWN} among {skills:,} of others", f"{costs['few'].best / 1000:.2f}", ""],
    ]


def _walk(server: Server, *, at_least: int) -> tuple[str, str]:
    """Cursors of a page in the middle and of the last full one; on the way every skill must be seen once."""
    step = 4 * _PAGE
    seen: set[str] = set()
    cursors = [""]
    while True:
        names, cursor = _names_after(server, cursors[-1], step)
        if seen.intersection(names):
            sys.exit("a skill was listed twice")
        seen.update(names)
        if cursor is None:
            break
        cursors.append(cursor)
    if len(seen) < at_least:
        sys.exit(f"only {len(seen)} of {at_least} skills were listed")
    before_last = len(seen) - _PAGE
    _, last = _names_after(server, cursors[before_last // step], before_last % step)
    return cursors[len(cursors) // 2], last or sys.exit("there is no last page")


def _names_after(server: Server, cursor: str, limit: int) -> tuple[list[str], str | None]:
    if not limit:
        return [], cursor
    path = f"/api/v1/skills?view=summary&limit={limit}" + (f"&cursor={cursor}" if cursor else "")
    answer = ask(server.port, get(path, token=ADMIN)).data
    return [skill["full_name"] for skill in answer["data"]], answer["next_cursor"]


def _post(server: Server, path: str, body: dict[str, str]) -> dict[str, str]:
    return ask(server.port, post_json(path, body, token=ADMIN), status=201).data["data"]
