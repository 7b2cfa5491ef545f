import asyncio
import json

from skillyard.errors import ConflictError
from skillyard.history.entries import Why
from skillyard.identity.principals import Scope

BODY = {
    "name": "pdf-tables",
    "description": "Extracts tables from PDF files.",
    "content": "# PDF tables\n\nRun `scripts/run.py`.\n",
    "tags": ["pdf", "documents"],
    "is_public": False,
    "license": "MIT",
    "compatibility": "Needs Python 3.11.",
    "metadata": {"version": "1.10", "author": "ana"},
    "allowed_tools": ["Read", "Bash(git add:*)"],
    "files": [
        {"path": "scripts/run.py", "content": "print()\n", "executable": True},
        {"path": "assets/logo.png", "content_base64": "iVBORw0KGgo="},
        {"path": "empty.txt", "content": ""},
    ],
}

WRONG = [
    {"name": ""},
    {"name": "a/b"},
    {"name": ".."},
    {"name": "x" * 257},
    {"name": "ß" * 200},
    {"name": "a\u200bb"},
    {"name": 7},
    {"description": ""},
    {"description": "  "},
    {"tags": ["a"] * 101},
    {"tags": [""]},
    {"is_public": "perhaps"},
    {"visibility": "secret"},
    {"is_public": True, "visibility": "private"},
    {"metadata": ["a"]},
    {"metadata": {"a": json.loads("[" * 70 + "]" * 70)}},
    {"files": [{"path": "a"}]},
    {"files": [{"path": "a", "content": "", "content_base64": ""}]},
    {"files": [{"path": "a", "content_base64": "Zg"}]},
    {"files": [{"path": "a", "content_base64": "Zg==\n"}]},
    {"files": [{"path": "a", "content_base64": "Zh=="}]},
    {"files": [{"path": "a", "content_base64": "Zm-v"}]},
    {"files": [{"path": "a", "content_base64": "Ωm"}]},
    {"files": [{"path": "../a", "content": ""}]},
    {"files": [{"path": "/a", "content": ""}]},
    {"files": [{"path": "a\\b", "content": ""}]},
    {"files": [{"path": "", "content": ""}]},
    {"files": [{"path": "nul", "content": ""}]},
    {"files": [{"path": "a", "content": ""}, {"path": "A", "content": ""}]},
    {"files": [{"path": "a", "content": ""}, {"path": "a", "content": ""}]},
    {"files": [{"path": "a", "content": ""}, {"path": "a/b", "content": ""}]},
    {"files": [{"path": "SKILL.md", "content": ""}]},
    {"files": [{"path": "skill.md", "content": ""}]},
    {"files": [{"path": ".git/config", "content": ""}]},
    {"files": [{"path": f"{number}.txt", "content": ""} for number in range(2001)]},
    {"unknown": 1},
]


def made(person, **fields):
    answer = person.post("skills", json={"name": "pdf-tables", "description": "Extracts tables.", **fields})
    assert answer.status_code == 201, answer.text
    return answer.json()["data"]


def error(answer):
    body = answer.json()
    assert body["success"] is False
    return body["error"]


def names(answer):
    assert answer.status_code == 200, answer.text
    return [skill["name"] for skill in answer.json()["data"]]


def test_a_skill_is_created_with_all_fields_and_files(api, ana):
    answer = ana.post("skills", json=BODY)
    assert answer.status_code == 201
    skill = answer.json()["data"]
    same = ("name", "description", "content", "tags", "is_public", "license", "compatibility", "metadata")
    assert {key: skill[key] for key in same} == {key: BODY[key] for key in same}
    assert skill["allowed_tools"] == ["Read", "Bash(git add:*)"]
    assert (skill["namespace"], skill["full_name"], skill["owner_id"]) == ("ana", "ana/pdf-tables", ana.id)
    assert [(file["path"], file["size"], file["executable"]) for file in skill["files"]] == [
        ("SKILL.md", skill["files"][0]["size"], False),
        ("assets/logo.png", 8, False),
        ("empty.txt", 0, False),
        ("scripts/run.py", 8, True),
    ]
    assert (skill["visibility"], skill["latest"], skill["requires"]) == ("private", None, "")
    assert skill["created_at"].endswith("Z")
    read = ana.get(f"skills/{skill['id']}")
    assert read.json()["data"] == skill
    assert read.headers["etag"] == answer.headers["etag"]


def test_the_fields_are_what_the_stored_skill_md_says(api, ana):
    skill = made(ana, license="MIT", content="# Hi\n", tags=["a"])
    text = ana.get(f"skills/{skill['id']}/files/SKILL.md").text
    assert text == ("---\nname: pdf-tables\ndescription: Extracts tables.\nlicense: MIT\ntags:\n- a\n---\n\n# Hi\n")


def test_allowed_tools_may_be_a_list_or_a_text(api, ana):
    given = ["Read Bash(git add:*)", "Read, Bash(git add:*)", ["Read", "Bash(git add:*)"]]
    for number, tools in enumerate(given):
        assert made(ana, name=f"s{number}", allowed_tools=tools)["allowed_tools"] == ["Read", "Bash(git add:*)"]


def test_tools_with_spaces_in_their_names_are_kept_apart(api, ana):
    assert made(ana, allowed_tools=["Read file", "Write"])["allowed_tools"] == ["Read file", "Write"]


def test_the_owner_is_who_asks_and_never_the_body(api, ana, bob):
    answer = ana.post("skills", json={**BODY, "owner_id": bob.id})
    assert answer.status_code == 422
    assert "owner_id" in error(answer)["message"]
    skill = made(ana)
    assert ana.put(f"skills/{skill['id']}", json={"owner_id": bob.id}).status_code == 422
    assert ana.get(f"skills/{skill['id']}").json()["data"]["owner_id"] == ana.id


def test_a_wrong_body_is_refused_and_nothing_is_written(api, ana):
    before = api.number()
    for wrong in WRONG:
        answer = ana.post("skills", json={"name": "pdf-tables", "description": "Reads.", **wrong})
        assert answer.status_code == 422, wrong
        assert error(answer)["code"] == "invalid_input", wrong
    assert api.number() == before
    assert names(ana.get("skills")) == []


def test_a_name_is_taken_whatever_its_case(api, ana):
    made(ana)
    answer = ana.post("skills", json={"name": "PDF-Tables", "description": "Reads."})
    assert (answer.status_code, error(answer)["code"]) == (409, "conflict")


def test_two_people_may_use_one_name(api, ana, bob):
    assert made(ana)["full_name"] == "ana/pdf-tables"
    assert made(bob)["full_name"] == "bob/pdf-tables"


def test_a_private_skill_is_as_good_as_not_there_for_others(api, ana, bob):
    skill = made(ana)
    stranger = api.person("eve", tenant="elsewhere")
    file_id = skill["files"][0]["id"]
    for other in (bob, stranger):
        for method, path, body in [
            ("GET", "skills/{}", None),
            ("PUT", "skills/{}", {"description": "Mine."}),
            ("DELETE", "skills/{}", None),
            ("GET", "skills/{}/files", None),
            ("GET", "skills/{}/files/SKILL.md", None),
            ("POST", "skills/{}/files", {"path": "a", "content": ""}),
            ("GET", "skills/{}/export", None),
            ("GET", "skills/{}/format", None),
            ("GET", "skills/{}/versions", None),
            ("GET", "skills/{}/versions/1.0.0", None),
            ("POST", "skills/{}/versions", {}),
            ("POST", "skills/{}/versions/1.0.0/yank", {"reason": "bad"}),
            ("PUT", "skills/{}/tags/tested", {"version": "1.0.0"}),
            ("GET", "skills/{}/diff", None),
        ]:
            there = other.request(method, path.format(skill["id"]), json=body)
            nowhere = other.request(method, path.format("00000000-0000-0000-0000-000000000000"), json=body)
            assert (there.status_code, nowhere.status_code) == (404, 404), (method, path)
            assert there.text.replace(skill["id"], "ID") == nowhere.text.replace(
                "00000000-0000-0000-0000-000000000000", "ID"
            )
        assert other.get(f"skills/files/{file_id}").status_code == 404
        assert other.delete(f"skills/files/{file_id}").status_code == 404
        assert other.get("skills/by-name/pdf-tables").status_code == 404
        assert other.get("skills/by-name/ana/pdf-tables").status_code == 404
        assert names(other.get("skills")) == []
    assert ana.get(f"skills/{skill['id']}").json()["data"] == skill


def test_a_public_skill_is_seen_by_the_tenant_and_changed_by_nobody_else(api, ana, bob):
    skill = made(ana, is_public=True)
    assert skill["visibility"] == "public"
    assert bob.get(f"skills/{skill['id']}").status_code == 200
    for answer in (
        bob.put(f"skills/{skill['id']}", json={"description": "Mine."}),
        bob.delete(f"skills/{skill['id']}"),
        bob.post(f"skills/{skill['id']}/files", json={"path": "a", "content": ""}),
        bob.delete(f"skills/files/{skill['files'][0]['id']}"),
        bob.post(f"skills/{skill['id']}/versions", json={}),
    ):
        assert (answer.status_code, error(answer)["code"]) == (403, "not_allowed")
    assert api.person("eve", tenant="elsewhere").get(f"skills/{skill['id']}").status_code == 404


def test_a_token_does_no_more_than_its_scope(api, ana):
    skill = made(ana)
    reader = api.person("ana", scope=Scope.READ)
    assert reader.get(f"skills/{skill['id']}").status_code == 200
    assert reader.post("skills", json={"name": "other", "description": "x"}).status_code == 403
    assert reader.put(f"skills/{skill['id']}", json={"description": "x"}).status_code == 403
    assert reader.delete(f"skills/{skill['id']}").status_code == 403
    writer = api.person("ana", scope=Scope.WRITE)
    assert writer.post(f"skills/{skill['id']}/versions", json={}).status_code == 403


def test_an_editor_of_a_team_edits_but_does_not_publish_show_or_delete(api, ana, bob):
    api.team("crew", ana, bob="editor")
    assert (
        bob.post("skills", json={"name": "a", "description": "x", "namespace": "crew", "is_public": True}).status_code
        == 403
    )
    skill = made(bob, namespace="crew")
    assert skill["full_name"] == "crew/pdf-tables"
    path = f"skills/{skill['id']}"
    assert bob.put(path, json={"description": "Better."}).status_code == 200
    before = api.number()
    assert bob.put(path, json={"description": "Shown.", "is_public": True}).status_code == 403
    assert bob.delete(path).status_code == 403
    assert bob.post(f"{path}/versions", json={}).status_code == 403
    assert api.number() == before
    assert bob.get(path).json()["data"]["description"] == "Better."


def test_system_skills_belong_to_nobody_and_are_written_by_administrators(api, ana):
    admin = api.person("root", admin=True)
    body = {"name": "house-style", "description": "How we write.", "namespace": "system"}
    assert ana.post("skills", json=body).status_code == 403
    skill = admin.post("skills", json=body).json()["data"]
    assert (skill["owner_id"], skill["visibility"], skill["is_public"]) == (None, "public", True)
    assert names(ana.get("skills")) == ["house-style"]
    assert ana.put(f"skills/{skill['id']}", json={"description": "x"}).status_code == 403
    refused = admin.put(f"skills/{skill['id']}", json={"is_public": False})
    assert refused.status_code == 422


def test_a_namespace_that_is_not_mine_is_not_there(api, ana, bob):
    answer = ana.post("skills", json={"name": "a", "description": "x", "namespace": "bob"})
    assert answer.status_code == 404


def test_lists_are_filtered_by_tags_words_namespace_and_visibility(api, ana, bob):
    made(ana, name="alpha", tags=["a", "b"])
    made(ana, name="beta", tags=["a"], description="Finds 100% of the errors.", is_public=True)
    made(bob, name="gamma", tags=["a", "b"], is_public=True)
    made(bob, name="delta")
    assert names(ana.get("skills")) == ["alpha", "beta", "gamma"]
    assert names(ana.get("skills?include_public=false")) == ["alpha", "beta"]
    assert names(ana.get("skills?tags=a&tags=b")) == ["alpha", "gamma"]
    assert names(ana.get("skills?tags=a,b")) == ["alpha", "gamma"]
    assert names(ana.get("skills?tags=")) == ["alpha", "beta", "gamma"]
    assert names(ana.get("skills?tags=c")) == []
    assert names(ana.get("skills", params={"q": "ERRORS finds"})) == ["beta"]
    assert names(ana.get("skills", params={"q": "100%"})) == ["beta"]
    assert names(ana.get("skills", params={"q": "%"})) == ["beta"]
    assert names(ana.get("skills?q=ALPH")) == ["alpha"]
    assert names(ana.get("skills?namespace=bob")) == ["gamma"]
    assert names(ana.get("skills?namespace=nobody")) == []
    assert ana.get("skills", params={"tags": ",".join("abcdefghijklmnopqrstuvw")}).status_code == 422


def test_pages_follow_each_other_without_gap_or_repetition(api, ana, bob):
    for name in ("e", "b", "d", "a", "c"):
        made(ana if name < "d" else bob, name=name, is_public=True)
    seen, cursor = [], None
    while True:
        page = ana.get("skills", params={"limit": 2, **({"cursor": cursor} if cursor else {})}).json()
        seen += [skill["name"] for skill in page["data"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == ["a", "b", "c", "d", "e"]


def test_a_wrong_query_is_refused(api, ana):
    for query in ("cursor=x", "cursor=WzEsMl0", "limit=0", "limit=201", "view=tree", "include_public=x"):
        answer = ana.get(f"skills?{query}")
        assert (answer.status_code, error(answer)["code"]) == (422, "invalid_input"), query


def test_the_short_view_leaves_out_content_and_files(api, ana):
    full = made(ana, content="# Hi\n")
    (short,) = ana.get("skills?view=summary").json()["data"]
    assert short.keys() < full.keys()
    assert short == {key: full[key] for key in short}
    assert not {"content", "files", "findings", "metadata"} & short.keys()
    (long,) = ana.get("skills").json()["data"]
    assert long == full


def test_a_skill_is_found_by_its_name_whatever_its_case_the_nearest_first(api, ana, bob):
    theirs = made(bob, is_public=True)
    assert ana.get("skills/by-name/PDF-TABLES").json()["data"]["id"] == theirs["id"]
    mine = made(ana)
    by_name = ana.get("skills/by-name/pdf-tables")
    assert by_name.json()["data"] == mine
    assert by_name.headers["etag"] == ana.get(f"skills/{mine['id']}").headers["etag"]
    assert ana.get("skills/by-name/bob/Pdf-tables").json()["data"]["id"] == theirs["id"]
    assert ana.get("skills/by-name/bob/none").status_code == 404


def test_a_skill_may_be_called_like_a_route(api, ana):
    for name in ("files", "versions", "export", "import", "한국어-번역", "by-name"):
        skill = made(ana, name=name)
        assert ana.get(f"skills/by-name/{name}").json()["data"]["id"] == skill["id"]
        assert ana.get(f"skills/by-name/ana/{name}").json()["data"]["id"] == skill["id"]


def test_fields_are_changed_one_by_one_and_the_rest_stays(api, ana):
    skill = ana.post("skills", json=BODY).json()["data"]
    path = f"skills/{skill['id']}"
    answer = ana.put(path, json={"description": "Reads tables.", "tags": ["pdf"], "license": ""})
    changed = answer.json()["data"]
    assert (changed["description"], changed["tags"], changed["license"]) == ("Reads tables.", ["pdf"], "")
    kept = ("id", "content", "metadata", "allowed_tools", "compatibility", "created_at", "owner_id")
    assert {key: changed[key] for key in kept} == {key: skill[key] for key in kept}
    assert [file["id"] for file in changed["files"]] == [file["id"] for file in skill["files"]]
    assert changed["digest"] != skill["digest"]
    assert changed["updated_at"] > skill["updated_at"]
    assert names(ana.get("skills?tags=documents")) == []
    assert ana.put(path, json={"content": ""}).json()["data"]["content"] == ""


def test_the_files_beside_skill_md_are_replaced_together(api, ana):
    skill = ana.post("skills", json=BODY).json()["data"]
    changed = ana.put(f"skills/{skill['id']}", json={"files": [{"path": "new.txt", "content": "x"}]}).json()["data"]
    assert [file["path"] for file in changed["files"]] == ["SKILL.md", "new.txt"]
    assert changed["content"] == skill["content"]
    assert [file["path"] for file in ana.put(f"skills/{skill['id']}", json={"files": []}).json()["data"]["files"]] == [
        "SKILL.md"
    ]


def test_a_put_that_changes_nothing_is_recorded_nowhere(api, ana):
    skill = ana.post("skills", json=BODY).json()["data"]
    path = f"skills/{skill['id']}"
    read = ana.get(path)
    before = api.number()
    back = ("name", "description", "content", "tags", "is_public", "visibility", "license", "compatibility", "metadata")
    same = {key: skill[key] for key in (*back, "allowed_tools")}
    for body in ({}, same, {"files": BODY["files"]}, {"license": None, "is_public": None}):
        answer = ana.put(path, json=body)
        assert answer.status_code == 200
        assert answer.json()["data"] == skill
        assert answer.headers["etag"] == read.headers["etag"]
    assert api.number() == before


def test_what_is_not_changed_stays_as_it_was_written(api, ana):
    skill = made(ana)
    written = "---\r\n# mine\r\nname:   pdf-tables\r\ndescription: 'R: t.'\r\nother: 007\r\n---\r\nNo blank line.\r\n"
    path = f"skills/{skill['id']}"
    assert ana.post(f"{path}/files", json={"path": "SKILL.md", "content": written}).status_code == 201
    read = ana.get(path).json()["data"]
    before = api.number()
    assert ana.put(path, json={"content": read["content"], "description": read["description"]}).json()["data"] == read
    assert api.number() == before
    ana.put(path, json={"content": "New.\n"})
    text = ana.get(f"{path}/files/SKILL.md").text
    assert text == written.replace("---\r\nNo blank line.\r\n", "---\n\nNew.\n").replace("---\r\n# mine", "---\n# mine")
    ana.put(path, json={"license": "MIT"})
    text = ana.get(f"{path}/files/SKILL.md").text
    assert "other: 007\n" in text
    assert text.endswith("---\n\nNew.\n")


def test_visibility_alone_can_be_changed(api, ana, bob):
    api.allow_world()
    skill = made(ana)
    path = f"skills/{skill['id']}"
    before = api.number()
    shown = ana.put(path, json={"is_public": True}).json()["data"]
    assert (shown["visibility"], shown["digest"], api.number()) == ("public", skill["digest"], before + 1)
    assert bob.get(path).status_code == 200
    assert ana.put(path, json={"visibility": "discoverable"}).json()["data"]["is_public"] is True
    assert ana.put(path, json={"is_public": True}).json()["data"]["visibility"] == "discoverable"
    assert ana.put(path, json={"is_public": False}).json()["data"]["visibility"] == "private"
    assert bob.get(path).status_code == 404


def test_content_and_visibility_change_together_as_two_entries(api, ana):
    skill = made(ana)
    before = api.number()
    answer = ana.put(f"skills/{skill['id']}", json={"description": "Shown.", "is_public": True})
    assert (answer.json()["data"]["description"], answer.json()["data"]["is_public"]) == ("Shown.", True)
    assert api.number() == before + 2
    assert ana.get(f"skills/{skill['id']}").headers["etag"] == answer.headers["etag"]


def test_an_edit_can_be_undone_part_by_part(api, ana):
    skill = made(ana)
    path = f"skills/{skill['id']}"
    ana.put(path, json={"description": "Shown.", "name": "shown", "is_public": True})
    last = api.number()
    principal = api.run(api.principals[ana.key])
    api.run(api.yard.registry.chronicle.undo, principal, last - 1, why=Why())
    now = ana.get(path).json()["data"]
    assert (now["name"], now["digest"], now["is_public"]) == ("pdf-tables", skill["digest"], True)
    api.run(api.yard.registry.chronicle.undo, principal, last, why=Why())
    assert ana.get(path).json()["data"]["is_public"] is False


def test_of_edits_made_from_one_state_only_the_first_is_taken(api, ana):
    skill = made(ana)
    principal = api.run(api.principals[ana.key])

    async def race():
        edit = api.yard.registry.workbench.edit
        tries = [
            edit(principal, skill["id"], fields={"description": f"Try {number}."}, base=skill["digest"], why=Why())
            for number in range(8)
        ]
        return await asyncio.gather(*tries, return_exceptions=True)

    done = api.run(race)
    (winner,) = [one for one in done if not isinstance(one, Exception)]
    assert sum(isinstance(one, ConflictError) for one in done) == 7
    assert ana.get(f"skills/{skill['id']}").json()["data"]["description"] == winner.description


def test_a_refused_part_leaves_the_whole_undone(api, ana):
    admin = api.person("root", admin=True)
    skill = made(admin, namespace="system")
    before = api.number()
    answer = admin.put(f"skills/{skill['id']}", json={"description": "New.", "visibility": "private"})
    assert answer.status_code == 422
    assert api.number() == before
    assert admin.get(f"skills/{skill['id']}").json()["data"] == skill


def test_a_skill_can_be_renamed_until_it_is_published(api, ana):
    skill = made(ana)
    made(ana, name="other")
    path = f"skills/{skill['id']}"
    assert ana.put(path, json={"name": "other"}).status_code == 409
    renamed = ana.put(path, json={"name": "better"}).json()["data"]
    assert (renamed["id"], renamed["name"]) == (skill["id"], "better")
    assert not [finding for finding in renamed["findings"] if finding["code"] == "name-mismatch"]
    assert ana.get("skills/by-name/pdf-tables").status_code == 404
    assert ana.post(f"{path}/versions", json={}).status_code == 201
    assert ana.put(path, json={"name": "best"}).status_code == 409


def test_an_edit_made_from_the_present_state_is_taken(api, ana):
    skill = made(ana)
    path = f"skills/{skill['id']}"
    etag = ana.get(path).headers["etag"]
    answer = ana.put(path, json={"description": "One."}, headers={"If-Match": etag})
    assert answer.status_code == 200
    digest = answer.json()["data"]["digest"]
    assert ana.put(path, json={"description": "Two."}, headers={"If-Match": f'"{digest}"'}).status_code == 200
    assert ana.put(path, json={"description": "Three."}, headers={"If-Match": "*"}).status_code == 200


def test_a_stale_edit_is_a_conflict_that_tells_the_present_digest(api, ana):
    skill = made(ana)
    path = f"skills/{skill['id']}"
    stale = {"If-Match": ana.get(path).headers["etag"]}
    now = ana.put(path, json={"description": "Quicker."}).json()["data"]
    for answer in (
        ana.put(path, json={"description": "Lost?"}, headers=stale),
        ana.put(path, json={"is_public": True}, headers=stale),
        ana.put(path, json={"description": "Quicker."}, headers=stale),
        ana.post(f"{path}/files", json={"path": "a", "content": ""}, headers=stale),
        ana.delete(path, headers=stale),
    ):
        assert (answer.status_code, error(answer)["code"]) == (409, "conflict")
        assert error(answer)["details"]["digest"] == now["digest"]
    assert ana.get(path).json()["data"] == now


def test_an_if_match_that_is_no_tag_of_a_skill_is_refused(api, ana):
    skill = made(ana)
    zeros = "0" * 64
    for tag in ("x", '"x"', "", f"sha256:{zeros}", '"sha256:12"', f'"{zeros}"', f'"{zeros}-1", "b"'):
        answer = ana.put(f"skills/{skill['id']}", json={"description": "x"}, headers={"If-Match": tag})
        assert (answer.status_code, error(answer)["details"]["field"]) == (422, "If-Match"), tag
        assert ana.delete(f"skills/{skill['id']}", headers={"If-Match": tag}).status_code == 422


def test_a_deleted_skill_is_gone_and_its_name_is_free(api, ana):
    skill = made(ana)
    path = f"skills/{skill['id']}"
    answer = ana.delete(path, headers={"If-Match": ana.get(path).headers["etag"]})
    assert (answer.status_code, answer.json()) == (200, {"success": True, "data": {"id": skill["id"]}})
    assert ana.get(path).status_code == 404
    assert ana.delete(path).status_code == 404
    assert ana.get(f"skills/files/{skill['files'][0]['id']}").status_code == 404
    assert names(ana.get("skills")) == []
    assert made(ana)["id"] != skill["id"]


def test_why_is_kept_in_the_history(api, ana):
    skill = made(ana)
    ana.put(f"skills/{skill['id']}?reason=Clearer&feedback=I+did+not+get+it", json={"description": "New."})
    entry = api.run(api.yard.history.entry, api.number())
    assert (entry.why.reason, entry.why.feedback, entry.actor.name) == ("Clearer", "I did not get it", "ana")


def test_a_skill_is_written_down_for_people(api, ana):
    skill = ana.post("skills", json=BODY).json()["data"]
    path = f"skills/{skill['id']}/format"
    whole = ana.get(path).json()["data"]
    assert whole["kind"] == "content"
    assert "# pdf-tables" in whole["text"]
    assert "print()" in whole["text"]
    assert "print()" not in ana.get(f"{path}?files=false").json()["data"]["text"]
    tree = ana.get(f"{path}?kind=structure").json()["data"]["text"]
    assert tree.startswith("pdf-tables/\n")
    assert "run.py" in tree
    assert ana.get(f"{path}?kind=other").status_code == 422


def test_broken_references_are_among_the_findings(api, ana):
    skill = made(ana, content="Read [this](references/missing.md) and [[other-skill]].\n")
    (broken,) = [finding for finding in skill["findings"] if finding["code"].startswith("reference")]
    assert "references/missing.md" in broken["message"]


def test_the_contract_names_every_route_with_summary_description_and_example(api):
    contract = api.client.get("/openapi.json").json()
    for path, methods in contract["paths"].items():
        for method, route in methods.items():
            assert route["summary"], (method, path)
            assert route["description"], (method, path)
            assert {"401", "404", "422"} <= route["responses"].keys()
    schemas = contract["components"]["schemas"]
    for name in ("SkillSchema", "SkillFileSchema", "SkillCreate", "SkillUpdate", "SkillFileCreate", "VersionSchema"):
        assert schemas[name]["examples"], name
    tools = schemas["SkillCreate"]["properties"]["allowed_tools"]["anyOf"]
    assert {"type": "string"} in tools or any({"type": "string"} in one.get("anyOf", []) for one in tools)
