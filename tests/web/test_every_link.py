"""A yard in which every text means harm, walked through link by link: nothing runs, and no link leads nowhere."""

import re
import shlex
from urllib.parse import quote, urldefrag, urlencode, urljoin

import httpx
import pytest

NAME = "\"><img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
HARM = f"{NAME}\u202e{{{{7*7}}}}"
LONG = "w" * 5_000
MARKDOWN = f"""# {HARM}
[a](javascript:document.title='owned') [b](java\tscript:alert(1)) [c](&#106;avascript:alert(1)) [d](data:text/html,x)
[e][1] <javascript:alert(1)> <https://elsewhere.invalid/> ![f](https://elsewhere.invalid/x.png) ![g](x"onerror=alert(1))
![h](drawing.svg) [i](page.html) [j](//elsewhere.invalid) [k](/sign-out) [l](../../../settings) [[{HARM}]] [m](odd.json)
<details open ontoggle=alert(1)> <svg onload=alert(1)> `{HARM}`

| {HARM} | {LONG} |
|:-:|-:|
| {HARM} | b |

[1]: javascript:alert(1) "{HARM}"
"""
SVG = """<svg xmlns='http://www.w3.org/2000/svg' onload="document.title='owned'"><script>alert(1)</script>
<image href='https://elsewhere.invalid/x.png'/></svg>"""
TABLE = {
    "hit_policy": "F",
    "inputs": [{"id": "tier", "type": "string", "label": HARM}],
    "outputs": [{"id": "said", "type": "string", "label": HARM}],
    "rules": [{"id": "r1", "when": ["-"], "then": [HARM], "note": HARM}],
}
NOT_FOLLOWED = re.compile(r"/(static|api|skills/system)/|/(doctor|raw|live|screenshot)|[?&](raw|download|done)=|\.dmn$")
LEAST = 50
"""Kinds of pages that are reached: fewer, and the walk ended early."""


@pytest.fixture(scope="module")
def hostile(yard):
    """A yard with harm in every field that takes any text."""
    with httpx.Client(base_url=yard.url, trust_env=False, timeout=60) as client:

        def made(path, body, method="POST"):
            answer = client.request(method, path, json=body)
            assert answer.is_success, answer.text
            return answer.json().get("data", answer.json())

        files = {"drawing.svg": SVG, "page.html": HARM, "odd.json": "{}", "long.txt": LONG * 200}
        skill = made(
            "/api/v1/skills",
            {
                "name": "means-harm",
                "description": HARM,
                "content": MARKDOWN,
                "tags": ["<b>'\"", "javascript:alert(1)"],
                "files": [{"path": path, "content": text} for path, text in files.items()],
            },
        )
        versions = f"/api/v1/skills/{skill['id']}/versions"
        accepted = f"{versions}?{urlencode({'allow_risky': 'true', 'reason': HARM})}"
        made(accepted, {"version": "1.0.0", "notes": HARM})
        made(f"/api/v1/skills/{skill['id']}", {"description": f"{HARM} more"}, "PUT")
        made(accepted, {"version": "1.1.0", "notes": HARM})
        made(f"{versions}/1.0.0/yank", {"reason": HARM})
        agent = made("/api/v1/agents", {"name": NAME, "role": HARM, "goal": HARM})["id"]
        made(f"/api/v1/agents/{agent}/skills/{skill['id']}", {}, "PUT")
        made("/api/v1/tokens", {"label": NAME, "scope": "read"})
        made("/api/v1/feedback", {"content": HARM, "task": HARM, "description": LONG, "user": NAME})
        made("/api/v1/memories", {"text": HARM, "agent_id": agent})
        rule = made("/api/v1/rules", {"name": NAME, "description": HARM, "table": TABLE})["rule"]["id"]
        made(f"/api/v1/rules/{rule}/evaluate", {"inputs": {"tier": HARM}})
        made(f"/v1/skills/benchmarks/{quote(NAME.replace('/', ''))}", {"cases": [{"variables": {"x": HARM}}]}, "PUT")
    sandbox = yard.client.sandboxes.create(ttl=3600)["id"]
    name, text = shlex.quote("<img src=x onerror=alert(1)>.svg"), shlex.quote(SVG)
    yard.client.sandboxes.shell(sandbox, f"echo {text} > {name}; printf 'a\\0\\377'; echo {shlex.quote(HARM)}; exit 3")
    return yard


def test_nothing_runs_and_every_link_leads_somewhere(hostile, visit):
    visitor = visit(hostile.url, width="phone")
    seen, waiting, wrong = set(), ["/"], []
    while waiting:
        path = waiting.pop(0)
        answer = visitor.page.goto(hostile.url + path)
        found = visitor.page.evaluate(
            """() => ({
                links: [...document.querySelectorAll("a[href]")].map((each) => each.getAttribute("href")),
                wide: document.documentElement.scrollWidth - innerWidth,
                harm: document.querySelectorAll("main script, [onerror], [onload], [ontoggle], main img[src=x]").length,
            })"""
        )
        if answer.status != 200 or found["wide"] > 0 or found["harm"] or visitor.page.title() == "owned":
            wrong.append((path, answer.status, found["wide"], found["harm"], visitor.page.title()))
        for link in found["links"]:
            assert not re.match(r"\s*(java|vb|data:(?!image))", link, re.IGNORECASE), (path, link)
            place = urldefrag(urljoin(hostile.url + path, link)).url
            target = place.removeprefix(hostile.url)
            kind = re.sub(r"/[^/?]*\d[^/?]*|(?<==)[^&]*", "*", target)
            if place.startswith(f"{hostile.url}/") and kind not in seen and not NOT_FOLLOWED.search(target):
                seen.add(kind)
                waiting.append(target)
    assert wrong == []
    # A picture that the skill does not have is looked for among its files, and nowhere else.
    assert [each for each in visitor.wrong if "/means-harm/files/x%22onerror" not in each] == []
    assert len(seen) > LEAST


def test_files_are_given_out_so_that_nothing_in_them_runs(hostile, visit):
    with httpx.Client(base_url=hostile.url, trust_env=False, timeout=60) as client:
        (found,) = [
            one for one in client.get("/api/v1/skills?q=means-harm").json()["data"] if one["name"] == "means-harm"
        ]
        path = f"/skills/{found['full_name']}/files"
        for name, kind in (("drawing.svg", "image/svg+xml"), ("page.html", "text/plain; charset=utf-8")):
            answer = client.get(f"{path}/{name}?raw=1")
            assert answer.headers["content-type"] == kind
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["content-security-policy"].endswith("; sandbox")
    visitor = visit(hostile.url)
    for name in ("drawing.svg", "page.html"):
        visitor.page.goto(f"{hostile.url}{path}/{name}?raw=1")
        assert visitor.page.title() != "owned"
