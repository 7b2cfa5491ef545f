"""What is private is for others as if it were not: the same answers, byte for byte, wherever they look."""

import json
import re

import pytest

STRANGERS = ["stranger", "foreigner", "foreign_admin", "tenant_admin", "operator", "anonymous"]
STALE = f'"sha256:{"0" * 64}"'
SKILL = "skills/{skill_id}"
ABOUT_A_SKILL = [
    ("GET", SKILL, {}),
    ("HEAD", SKILL, {}),
    ("GET", SKILL, {"headers": {"If-None-Match": "*"}}),
    ("GET", f"{SKILL}/format", {}),
    ("GET", f"{SKILL}/files", {}),
    ("GET", f"{SKILL}/files/{{path}}", {}),
    ("GET", f"{SKILL}/files/{{path}}?version=1.0.0", {}),
    ("GET", f"{SKILL}/files/no-such-file.md", {}),
    ("GET", "skills/files/{file_id}", {}),
    ("DELETE", "skills/files/{file_id}", {}),
    ("DELETE", "skills/files/{file_id}", {"headers": {"If-Match": STALE}}),
    ("GET", f"{SKILL}/export", {}),
    ("GET", f"{SKILL}/export?version=1.0.0", {}),
    ("GET", f"{SKILL}/export?version={{digest}}", {}),
    ("GET", f"{SKILL}/versions", {}),
    ("GET", f"{SKILL}/versions/1.0.0", {}),
    ("GET", f"{SKILL}/versions/tested", {}),
    ("GET", f"{SKILL}/versions/9.9.9", {}),
    ("GET", f"{SKILL}/diff", {}),
    ("GET", f"{SKILL}/diff?from=1.0.0&to=draft", {}),
    ("GET", f"{SKILL}/references", {}),
    ("GET", f"{SKILL}/dependencies", {}),
    ("GET", f"{SKILL}/dependencies?version=1.0.0", {}),
    ("GET", f"{SKILL}/similar", {}),
    ("GET", f"{SKILL}/similar?threshold=0.5", {}),
    ("GET", f"{SKILL}/usage", {}),
    ("GET", "skills/by-name/{name}", {}),
    ("GET", "skills/by-name/{namespace}/{name}", {}),
    ("GET", "skills?q={name}", {}),
    ("GET", "skills?namespace={namespace}", {}),
    ("GET", "skills?tags={tag}", {}),
    ("GET", "search?q={name}", {}),
    ("GET", "search?q=it+does+{name}", {}),
    ("GET", "search?q={namespace}/{name}", {}),
    ("GET", "search?q=secretly+does+it&namespace={namespace}", {}),
    ("GET", "search?q=secretly+does+it&tag={tag}", {}),
    ("GET", "graph?namespace={namespace}", {}),
    ("GET", "history?skill={skill_id}", {}),
    ("GET", "history?skill={namespace}/{name}", {}),
    ("GET", "history?skill={name}", {}),
    ("GET", "history?subject_kind=skill&subject_id={skill_id}", {}),
    ("GET", "history/{number}", {}),
    ("POST", "history/{number}/undo", {}),
    ("GET", "usage?skill={skill_id}", {}),
    ("GET", "usage?skill={namespace}/{name}", {}),
    ("POST", "usage", {"json": {"events": [{"skill": "{skill_id}", "event": "loaded"}]}}),
    ("POST", "usage", {"json": {"events": [{"skill": "{namespace}/{name}", "event": "loaded"}]}}),
    ("PUT", SKILL, {"json": {"description": "Mine now."}}),
    ("PUT", SKILL, {"json": {"is_public": True}}),
    ("PUT", SKILL, {"json": {"description": "x"}, "headers": {"If-Match": STALE}}),
    ("PUT", SKILL, {"json": {"description": "x"}, "headers": {"If-Match": '"{digest}"'}}),
    ("DELETE", SKILL, {}),
    ("DELETE", SKILL, {"headers": {"If-Match": STALE}}),
    ("POST", f"{SKILL}/files", {"json": {"path": "notes.md", "content": "x"}}),
    ("POST", f"{SKILL}/versions", {"json": {}}),
    ("POST", f"{SKILL}/versions", {"json": {"version": "1.0.0"}}),
    ("POST", f"{SKILL}/versions/1.0.0/yank", {"json": {"reason": "No."}}),
    ("POST", f"{SKILL}/versions/1.0.0/restore", {}),
    ("POST", f"{SKILL}/versions/1.0.0/approve", {}),
    ("POST", f"{SKILL}/versions/1.0.0/reject", {}),
    ("PUT", f"{SKILL}/tags/tested", {"json": {"version": "1.0.0"}}),
    ("DELETE", f"{SKILL}/tags/tested", {}),
    ("PUT", "agents/{agent_id}/skills/{skill_id}", {"json": {}}),
    ("DELETE", "agents/{agent_id}/skills/{skill_id}", {}),
    ("PUT", "tenant/skills/{skill_id}", {"json": {}}),
    ("DELETE", "tenant/skills/{skill_id}", {}),
    ("POST", "agents/apply", {"json": {"agents": [{"id": "{agent_id}", "skills": ["{namespace}/{name}"]}]}}),
    ("POST", "agents/apply", {"json": {"agents": [{"id": "{agent_id}", "skills": ["{name}"]}], "dry_run": True}}),
    ("POST", "skills", {"json": {"name": "{name}", "description": "x", "namespace": "{namespace}"}}),
    ("GET", "/.well-known/agent-skills/{skill_id}/{sha256}.zip", {}),
    ("GET", "/.well-known/agent-skills/{skill_id}/{sha256}.md", {}),
    ("GET", "/.well-known/agent-skills/{skill_id}/versions.json", {}),
    ("GET", "namespaces/{namespace}", {}),
    ("GET", "namespaces/{namespace}/members", {}),
    ("PUT", "namespaces/{namespace}/policy", {"json": {}}),
    ("PUT", "namespaces/{namespace}/members/stranger", {"json": {"role": "admin"}}),
    ("DELETE", "namespaces/{namespace}/members/olga", {}),
]
LISTS = [
    "skills",
    "skills?q=treasure",
    "skills?q=treasure&view=summary",
    "skills?tags=secretly",
    "skills?namespace=vault",
    "skills?include_public=false",
    "search?q=treasure",
    "search?q=treasurr",
    "search?q=keeps+more+secrets",
    "search?q=see+the+treasure+skill",
    "search?q=own&tag=secretly",
    "search?q=treasure&namespace=vault",
    "search?q=treasure&visibility=private&stage=published",
    "skills/by-name/treasure",
    "skills/by-name/vault/treasure",
    "graph",
    "graph?namespace=vault",
    "{own}",
    "{own}/references",
    "{own}/dependencies",
    "{own}/similar",
    "{own}/similar?threshold=0.5",
    "{own}/versions",
    "{own}/usage",
    "history",
    "history?actor=olga",
    "history?skill=vault/treasure",
    "usage",
    "usage/report",
    "agents",
    "agents/{agent}",
    "agents/{agent}/skills",
    "tenant/skills",
    "namespaces",
    "namespaces/vault",
    "namespaces/vault/members",
    "me",
    "/.well-known/agent-skills/index.json",
    "/.claude-plugin/marketplace.json",
    "/marketplace/vault.git/info/refs?service=git-upload-pack",
    "/marketplace.git/info/refs?service=git-upload-pack",
]


def filled(given, parts):
    text = json.dumps(given)
    for name, value in parts.items():
        text = text.replace(f"{{{name}}}", value)
    return json.loads(text)


def told(answer, parts):
    """An answer without what makes any two requests different: the id it was given, and the words that were sent."""
    text = answer.text
    for name, value in sorted(parts.items(), key=lambda item: -len(item[1])):
        text = text.replace(value, f"<{name}>")
    headers = {name: value for name, value in answer.headers.items() if name != "x-request-id"}
    return answer.status_code, headers, text


def unscored(answer):
    """An answer without scores: they move with the mean length of all texts, which tells nothing of any one."""
    status, headers, text = answer
    unscored = re.sub(r'"score":[0-9.]+', '"score":0', text)
    return (status, {**headers, "etag": "", "content-length": ""}, unscored) if unscored != text else answer


@pytest.fixture(scope="module")
def private(world):
    """A private skill with all that can belong to one, and the same words for one that never was."""
    made = world.skill("private", "hidden")
    world.did("owner", "PUT", f"skills/{made['skill_id']}/tags/tested", json={"version": "1.0.0"})
    world.did("owner", "PUT", f"skills/{made['skill_id']}", json={"tags": ["covert"]})
    entry = world.served.number()
    agent = world.did("tenant_admin", "POST", "agents", json={"name": "helper"})["id"]
    index = world.ask("owner", "GET", "/.well-known/agent-skills/index.json").json()
    sha256 = next(one["digest"] for one in index["skills"] if one["name"] == "hidden").removeprefix("sha256:")
    there = {**made, "tag": "covert", "number": str(entry), "agent_id": agent, "sha256": sha256}
    absent = {
        **there,
        "skill_id": made["skill_id"][:-12] + "".join(reversed(made["skill_id"][-12:])),
        "namespace": "crow",
        "name": "absent",
        "file_id": made["file_id"][:-12] + "".join(reversed(made["file_id"][-12:])),
        "digest": f"sha256:{'1' * 64}",
        "sha256": "1" * 64,
        "tag": "overts",
        "number": str(9 * 10 ** (len(str(entry)) - 1) + entry % 7),
    }
    assert all(len(there[key]) == len(absent[key]) for key in there)
    return there, absent


@pytest.mark.parametrize("caller", STRANGERS)
def test_a_private_skill_is_answered_for_like_one_that_never_was(world, private, caller):
    there, absent = private
    before = world.served.state()
    for method, path, given in ABOUT_A_SKILL:
        answers = []
        for parts in (there, absent):
            answer = world.ask(caller, method, filled(path, parts), **filled(given, parts))
            assert answer.status_code < 500
            answers.append(told(answer, parts))
        assert answers[0] == answers[1], (caller, method, path)
        if method != "GET" and path != "usage":
            assert answers[0][0] in {401, 403, 404, 422}, (caller, method, path)
    assert world.served.state() == before


def test_its_owner_is_answered_differently_so_the_comparison_can_fail(world, private):
    there, absent = private
    reads = [(method, path, given) for method, path, given in ABOUT_A_SKILL if method == "GET"]
    same = {
        path
        for method, path, given in reads
        if told(world.ask("owner", method, filled(path, there), **filled(given, there)), there)
        == told(world.ask("owner", method, filled(path, absent), **filled(given, absent)), absent)
    }
    # It is no single file, and it was never used.
    assert same <= {"/.well-known/agent-skills/{skill_id}/{sha256}.md", *(path for path in same if "usage?" in path)}


def test_a_private_skill_changes_nothing_that_others_can_read(world):
    """All that can happen to a private skill happens; every list of everyone else stays what it was."""
    served = world.served
    world.secrets["member_admin"] = served.token("mara", admin=True)
    agent = world.did("member_admin", "POST", "agents", json={"name": "keeper"})["id"]
    own = {}
    for caller in ("stranger", "foreigner", "foreign_admin", "tenant_admin"):
        body = "See the `treasure` skill, [it](../treasure/SKILL.md) and vault/treasure.\n"
        skill = {"name": f"own-{len(own)}", "description": "Is mine.", "content": body}
        requires = {"metadata": {"requires": "treasure >=1 vault/treasure"}}
        own[caller] = world.did(caller, "POST", "skills", json={**skill, **requires})["id"]

    def seen():
        found = {}
        for caller in (*own, "anonymous", "operator"):
            for path in LISTS:
                url = path.format(own=f"skills/{own.get(caller, agent)}", agent=agent)
                answer = world.ask(caller, "GET", url)
                found[caller, path] = unscored(told(answer, {}))
        return found

    def changes():
        return {caller: world.did(caller, "GET", "changes?since=0&limit=1000") for caller in own}

    before, feed = seen(), changes()
    _live_through(world, agent)
    assert {key for key, answer in seen().items() if answer != before[key]} == set()
    last = served.number()
    for caller, page in changes().items():
        new = [change for change in page["changes"] if change not in feed[caller]["changes"]]
        assert new == [], caller
        assert page["next"] in {last, 1000}
    for caller in own:
        stream = world.ask(caller, "GET", f"events?since={feed[caller]['next']}")
        assert "treasure" not in stream.text


def _live_through(world, agent):
    world.did("owner", "POST", "namespaces", json={"name": "vault"})
    world.did("owner", "PUT", "namespaces/vault/members/mara", json={"role": "viewer"})
    fields = {"name": "treasure", "description": "Keeps secrets.", "tags": ["secretly"], "namespace": "vault"}
    body = "Uses own-0 and `hidden`.\n"
    made = world.did("owner", "POST", "skills", json={**fields, "content": body})
    path = f"skills/{made['id']}"
    world.did("owner", "POST", f"{path}/files", json={"path": "map.md", "content": "X"})
    world.did("owner", "POST", f"{path}/versions", json={"version": "1.0.0"})
    world.did("owner", "PUT", f"{path}/tags/tested", json={"version": "1.0.0"})
    world.did("owner", "PUT", path, json={"description": "Keeps more secrets."})
    assert world.ask("owner", "POST", f"{path}/versions", json={"version": "1.0.0"}).status_code == 409
    world.did("member_admin", "PUT", f"agents/{agent}/skills/{made['id']}", json={})
    world.did("member_admin", "PUT", f"tenant/skills/{made['id']}", json={})
    use = {"skill": "vault/treasure", "event": "failed"}
    assert world.did("owner", "POST", "usage", json={"events": [use] * 9})["recorded"] == 9
    world.did("owner", "PUT", "namespaces/vault/policy", json={"scan": "refuse-errors"})
    world.did("owner", "DELETE", path)
    world.did("owner", "POST", f"history/{world.served.number()}/undo")


def test_what_was_shown_and_is_private_again_leaves_no_trace(world):
    made = world.skill("public", "fleeting")
    path = f"skills/{made['skill_id']}"
    use = {"skill": "crew/fleeting", "event": "failed"}
    assert world.did("stranger", "POST", "usage", json={"events": [use] * 9})["recorded"] == 9
    world.did("tenant_admin", "PUT", f"tenant/skills/{made['skill_id']}", json={})
    world.did("owner", "PUT", path, json={"visibility": "private"})
    for caller in ("stranger", "tenant_admin"):
        for url in (path, f"{path}/versions", f"{path}/usage", "skills/by-name/fleeting", f"{path}/export"):
            assert world.ask(caller, "GET", url).status_code == 404, url
        lists = ("skills", "graph", "history?limit=200", "usage", "usage/report", "tenant/skills")
        for url in (*lists, "search?q=fleeting", "search?q=secretly+does+it&limit=100"):
            assert "fleeting" not in world.ask(caller, "GET", url).text, url
        assert "fleeting" not in world.ask(caller, "GET", "/.well-known/agent-skills/index.json").text
        since = world.served.number() - 50
        feed = world.did(caller, "GET", f"changes?since={since}")["changes"]
        assert "fleeting" not in json.dumps(feed)


@pytest.mark.parametrize(("word", "other"), [("quartzite", "porphyrys"), ("lanternn", "lanternm")])
def test_a_word_of_a_private_skill_is_searched_like_one_that_no_skill_has(world, word, other):
    described = {"description": f"Compares quartzite, porphyrys and the like of {word[0]}.", "is_public": True}
    world.did("stranger", "POST", "skills", json={**described, "name": f"lantern-{word[:4]}"})
    world.did("owner", "POST", "skills", json={"name": word, "description": f"All about {word}."})
    assert world.did("owner", "GET", f"search?q={word}")[0]["name"] == word
    for caller in ("stranger", "tenant_admin", "foreigner"):
        answers = [world.ask(caller, "GET", f"search?q={query}").json() for query in (word, other)]
        hits = [[(hit["name"], hit["score"]) for hit in answer["data"]] for answer in answers]
        assert (hits[0], answers[0]["total"]) == (hits[1], answers[1]["total"]), caller


def test_a_name_that_is_taken_in_secret_is_free_for_everyone_else(world):
    world.skill("private", "popular")
    for caller in ("stranger", "foreigner", "tenant_admin"):
        made = world.did(caller, "POST", "skills", json={"name": "Popular", "description": "Mine."})
        assert made["namespace"] != "crew"
        world.did(caller, "POST", f"skills/{made['id']}/versions", json={"version": "1.0.0"})
        answer = world.ask(caller, "GET", "skills/by-name/popular").json()["data"]
        assert answer["id"] == made["id"]
    assert world.did("foreigner", "POST", "namespaces", json={"name": "crew"})["role"] == "admin"
    world.did("foreigner", "POST", "skills", json={"name": "popular", "description": "x", "namespace": "crew"})


@pytest.mark.parametrize("extra", ["owner_id", "owner", "tenant", "tenant_id", "namespace_id", "audience", "id"])
def test_a_body_cannot_say_whose_a_skill_is(world, extra):
    before = world.served.state()
    owner = world.served.principal(world.secrets["owner"]).person_id
    body = {"name": "stolen", "description": "x", extra: owner}
    assert world.ask("stranger", "POST", "skills", json=body).status_code == 422
    made = world.target("personal", fresh=False)
    answer = world.ask("owner", "PUT", f"skills/{made['skill_id']}", json={extra: owner})
    assert answer.status_code == 422
    assert re.search(rf"body\.{extra}", answer.json()["error"]["message"])
    assert world.served.number() - before[0] in {0, 2}  # the target, where it was not there yet


def test_an_archive_belongs_to_whoever_sends_it(world, pack):
    owner = world.served.principal(world.secrets["owner"]).person_id
    data = {"owner_id": owner, "owner": "olga", "tenant": "other"}
    files = {"file": ("sent.skill", pack("sent-by-a-stranger"))}
    made = world.did("stranger", "POST", "skills/import", data=data, files=files)
    assert made["owner_id"] == world.served.principal(world.secrets["stranger"]).person_id
    assert made["namespace"] == "stranger"
    other = world.ask("stranger", "POST", "skills/import", data={"namespace": "olga"}, files=files)
    nobody = world.ask("stranger", "POST", "skills/import", data={"namespace": "abcd"}, files=files)
    assert told(other, {"it": "olga"}) == told(nobody, {"it": "abcd"})
