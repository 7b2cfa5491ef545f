"""What a search costs over HTTP, beside the same search of the same index in this process."""

import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from corpus import Corpus
from load import ask, get, post_json
from reads import ADMIN, TOKENS
from results import table
from servers import skillyard

from skillyard.app.yard import search_folder
from skillyard.search.index_folder import IndexFolder

_WORDS = 150


def compare(home: Path, *, skills: int, queries: int) -> str:
    corpus = Corpus(skills)
    with skillyard(home, **TOKENS) as server:
        for each in corpus.documents:
            skill = {"name": each.name, "description": each.description, "content": each.body}
            ask(server.port, post_json("/api/v1/skills", skill, token=ADMIN), status=201)

        def over_http(query: str) -> object:
            return ask(server.port, get(f"/api/v1/search?q={quote(query)}", token=ADMIN)).data["data"]

        over_http("wait until all of them are in the index")
        view = IndexFolder(search_folder(home)).look()
        if view is None:
            raise RuntimeError("The server made no index.")
        texts = [query.text for query in corpus.queries(queries, words=_WORDS)]
        rows = [
            ["in this process", *_measured(view.search, texts)],
            ["over HTTP, each on a connection of its own", *_measured(over_http, texts)],
        ]
    return table([f"{skills:,} skills, tasks of {_WORDS} words", "p50 ms", "p95 ms"], rows)


def _measured(search: Callable[[str], object], texts: list[str]) -> list[str]:
    times: list[float] = []
    for text in texts:
        began = time.perf_counter()
        search(text)
        times.append((time.perf_counter() - began) * 1000)
    times.sort()
    return [f"{times[len(times) // 2]:.1f}", f"{times[int(len(times) * 0.95)]:.1f}"]
