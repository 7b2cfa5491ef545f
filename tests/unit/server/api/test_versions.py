from skillyard.history.entries import Why


def made(person, **fields):
    answer = person.post("skills", json={"name": "pdf-tables", "description": "Extracts tables.", **fields})
    assert answer.status_code == 201, answer.text
    return answer.json()["data"]


def published(person, skill, version, **fields):
    answer = person.post(f"skills/{skill['id']}/versions", json={"version": version, **fields})
    assert answer.status_code == 201, answer.text
    return answer.json()["data"]


def latest(person, skill):
    return person.get(f"skills/{skill['id']}").json()["data"]["latest"]


def test_the_working_copy_is_published_and_stays_as_it_was(api, ana):
    skill = made(ana, files=[{"path": "a.txt", "content": "one"}])
    url = f"skills/{skill['id']}"
    version = published(ana, skill, "1.0.0", notes="The first.")
    assert (version["digest"], version["state"], version["notes"]) == (skill["digest"], "published", "The first.")
    assert (version["published_by"], version["yanked"], version["tags"]) == (ana.id, False, [])
    ana.post(f"{url}/files", json={"path": "a.txt", "content": "two"})
    read = ana.get(f"{url}/versions/1.0.0").json()["data"]
    assert {key: read[key] for key in version if key != "findings"} | {"findings": []} == version
    assert [(file["path"], file["size"]) for file in read["files"]][1] == ("a.txt", 3)
    assert latest(ana, skill) == "1.0.0"


def test_publishing_the_same_again_changes_nothing(api, ana):
    skill = made(ana)
    first = published(ana, skill, "1.0.0")
    before = api.number()
    again = ana.post(f"skills/{skill['id']}/versions", json={"version": "1.0.0"})
    assert (again.status_code, again.json()["data"]) == (200, first)
    assert ana.post(f"skills/{skill['id']}/versions", json={}).json()["data"] == first
    assert api.number() == before


def test_a_version_is_never_replaced(api, ana):
    skill = made(ana)
    published(ana, skill, "1.0.0")
    ana.put(f"skills/{skill['id']}", json={"description": "New."})
    answer = ana.post(f"skills/{skill['id']}/versions", json={"version": "1.0.0"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "conflict")
    assert ana.post(f"skills/{skill['id']}/versions", json={}).json()["data"]["version"] == "1.0.1"


def test_a_version_is_published_only_from_the_state_that_was_seen(api, ana):
    skill = made(ana)
    url = f"skills/{skill['id']}"
    etag = ana.get(url).headers["etag"]
    ana.put(url, json={"description": "New."})
    now = ana.get(url).json()["data"]["digest"]
    for answer in (
        ana.post(f"{url}/versions", json={"base": skill["digest"]}),
        ana.post(f"{url}/versions", json={}, headers={"If-Match": etag}),
    ):
        assert (answer.status_code, answer.json()["error"]["details"]["digest"]) == (409, now)
    two = ana.post(f"{url}/versions", json={"base": now}, headers={"If-Match": etag})
    assert two.status_code == 422
    assert ana.post(f"{url}/versions", json={"base": now}).status_code == 201


def test_a_wrong_version_is_refused(api, ana):
    skill = made(ana)
    before = api.number()
    for version in ("1", "1.0", "v1.0.0", "01.0.0", "", "latest", "1" * 200, 1):
        answer = ana.post(f"skills/{skill['id']}/versions", json={"version": version})
        assert answer.status_code == 422, version
    for body in ({"base": "x"}, {"base": skill["digest"].upper()}, {"notes": "x" * 20_001}, {"other": 1}):
        assert ana.post(f"skills/{skill['id']}/versions", json=body).status_code == 422, body
    assert api.number() == before


def test_versions_are_listed_the_highest_first(api, ana):
    skill = made(ana)
    for number in ("1.9.0", "1.10.0", "2.0.0-rc.1"):
        ana.put(f"skills/{skill['id']}", json={"description": number})
        published(ana, skill, number)
    answer = ana.get(f"skills/{skill['id']}/versions").json()
    assert [version["version"] for version in answer["data"]] == ["2.0.0-rc.1", "1.10.0", "1.9.0"]
    assert answer["next_cursor"] is None
    assert latest(ana, skill) == "1.10.0"
    assert ana.get(f"skills/{skill['id']}/versions/latest").json()["data"]["version"] == "1.10.0"


def test_a_yanked_version_is_shipped_no_more_until_it_is_restored(api, ana):
    skill = made(ana)
    url = f"skills/{skill['id']}/versions"
    published(ana, skill, "1.0.0")
    assert ana.post(f"{url}/1.0.0/yank", json={}).status_code == 422
    assert ana.post(f"{url}/1.0.0/yank", json={"reason": " "}).status_code == 422
    yanked = ana.post(f"{url}/1.0.0/yank", json={"reason": "Loses rows."}).json()["data"]
    assert (yanked["yanked"], yanked["yank_reason"]) == (True, "Loses rows.")
    assert latest(ana, skill) is None
    assert ana.get(f"{url}/1.0.0").status_code == 200
    assert ana.get(f"{url}/latest").status_code == 404
    entry = api.run(api.yard.history.entry, api.number())
    assert entry.why.reason == "Loses rows."
    assert ana.post(f"{url}/1.0.0/restore").json()["data"]["yanked"] is False
    assert latest(ana, skill) == "1.0.0"
    assert ana.post(f"{url}/9.9.9/yank", json={"reason": "x"}).status_code == 404


def test_a_tag_names_a_version_and_moves(api, ana):
    skill = made(ana)
    url = f"skills/{skill['id']}"
    published(ana, skill, "1.0.0")
    ana.put(url, json={"description": "New."})
    published(ana, skill, "1.1.0")
    assert ana.put(f"{url}/tags/tested", json={"version": "1.0.0"}).json()["data"] == {
        "tag": "tested",
        "version": "1.0.0",
    }
    assert ana.get(f"{url}/versions/tested").json()["data"]["version"] == "1.0.0"
    ana.put(f"{url}/tags/tested", json={"version": "1.1.0"})
    assert ana.get(f"{url}/versions/tested").json()["data"]["tags"] == ["tested"]
    assert ana.get(f"{url}/versions/tested").json()["data"]["version"] == "1.1.0"
    assert ana.delete(f"{url}/tags/tested").json()["data"] == {"tag": "tested", "version": None}
    assert ana.get(f"{url}/versions/tested").status_code == 404
    before = api.number()
    assert ana.delete(f"{url}/tags/tested").status_code == 200
    for tag in ("latest", "draft", "stable", "canary", "1.0.0", "Tested", "x" * 65):
        assert ana.put(f"{url}/tags/{tag}", json={"version": "1.0.0"}).status_code == 422, tag
    assert ana.put(f"{url}/tags/tested", json={"version": "9.9.9"}).status_code == 404
    assert api.number() == before


def test_a_version_waits_for_someone_else_where_the_namespace_says_so(api, ana, bob):
    eve = api.person("eve")
    api.team("crew", ana, bob="publisher")
    principal = api.run(api.principals[ana.key])
    api.run(api.yard.namespaces.set_policy, principal, "crew", {"review": True}, why=Why())
    skill = made(ana, namespace="crew", is_public=True)
    url = f"skills/{skill['id']}/versions"
    assert published(ana, skill, "1.0.0")["state"] == "pending"
    assert latest(ana, skill) is None
    assert eve.get(url).json()["data"] == []
    assert eve.get(f"{url}/1.0.0").status_code == 404
    assert ana.post(f"{url}/1.0.0/approve").status_code == 403
    done = bob.post(f"{url}/1.0.0/approve").json()["data"]
    assert (done["state"], done["reviewed_by"]) == ("published", bob.id)
    assert eve.get(f"{url}/1.0.0").status_code == 200
    assert bob.post(f"{url}/1.0.0/reject").status_code == 409
    ana.put(f"skills/{skill['id']}", json={"description": "New."})
    published(ana, skill, "1.1.0")
    assert bob.post(f"{url}/1.1.0/reject").json()["data"]["state"] == "rejected"
    assert latest(ana, skill) == "1.0.0"


def test_a_policy_refuses_a_version_with_every_reason(api, ana):
    principal = api.run(api.principals[ana.key])
    api.run(api.yard.namespaces.set_policy, principal, "ana", {"max_files": 1}, why=Why())
    skill = made(ana, files=[{"path": "a.txt", "content": ""}])
    answer = ana.post(f"skills/{skill['id']}/versions", json={})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "policy_refused")


def test_two_states_are_compared_file_by_file(api, ana):
    skill = made(
        ana, content="One.\n", files=[{"path": "a.txt", "content": "x\n"}, {"path": "b", "content_base64": "AA=="}]
    )
    url = f"skills/{skill['id']}"
    first = ana.get(f"{url}/diff").json()["data"]
    assert (first["from"], first["to"], len(first["files"])) == (None, "draft", 3)
    assert {file["change"] for file in first["files"]} == {"added"}
    published(ana, skill, "1.0.0")
    assert ana.get(f"{url}/diff").json()["data"]["files"] == []
    ana.put(
        url,
        json={
            "content": "Two.\n",
            "files": [{"path": "c.txt", "content": "y\n"}, {"path": "b", "content_base64": "AAA="}],
        },
    )
    diff = ana.get(f"{url}/diff").json()["data"]
    assert (diff["from"], diff["to"], diff["old_digest"]) == ("1.0.0", "draft", skill["digest"])
    changes = {file["path"]: file for file in diff["files"]}
    assert {path: file["change"] for path, file in changes.items()} == {
        "SKILL.md": "changed",
        "a.txt": "removed",
        "b": "changed",
        "c.txt": "added",
    }
    assert "-One.\n+Two." in changes["SKILL.md"]["diff"]
    assert (changes["b"]["binary"], changes["b"]["old"]["size"], changes["b"]["new"]["size"]) == (True, 1, 2)
    published(ana, skill, "1.1.0")
    back = ana.get(f"{url}/diff", params={"from": "1.1.0", "to": skill["digest"]}).json()["data"]
    assert (back["from"], back["to"]) == ("1.1.0", "1.0.0")
    assert ana.get(f"{url}/diff?from=9.9.9").status_code == 404
    assert ana.get(f"{url}/diff?to=none").status_code == 404
