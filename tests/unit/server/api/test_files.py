import base64

EVERY_BYTE = bytes(range(256)) * 4


def made(person, **fields):
    answer = person.post("skills", json={"name": "pdf-tables", "description": "Extracts tables.", **fields})
    assert answer.status_code == 201, answer.text
    return answer.json()["data"]


def paths(person, skill):
    return [file["path"] for file in person.get(f"skills/{skill['id']}/files").json()["data"]]


def test_a_file_is_added_and_read_back_byte_for_byte(api, ana):
    skill = made(ana)
    url = f"skills/{skill['id']}/files"
    body = {"path": "data/every.bin", "content_base64": base64.b64encode(EVERY_BYTE).decode()}
    answer = ana.post(url, json=body)
    assert answer.status_code == 201
    written = answer.json()["data"]
    assert written["file"]["size"] == len(EVERY_BYTE)
    assert ana.get(f"{url}/data/every.bin").content == EVERY_BYTE
    read = ana.get(f"skills/files/{written['file']['id']}").json()["data"]
    assert (read["content"], read["content_base64"]) == (None, body["content_base64"])
    assert (read["skill_id"], read["path"]) == (skill["id"], "data/every.bin")
    now = ana.get(f"skills/{skill['id']}")
    assert (now.json()["data"]["digest"], now.headers["etag"]) == (written["digest"], answer.headers["etag"])


def test_text_line_ends_and_empty_files_stay_as_they_are(api, ana):
    skill = made(ana)
    url = f"skills/{skill['id']}/files"
    for path, content in (("a.txt", "eins\r\nzwei\n한국어"), ("empty", ""), ("b.txt", "\ufeffx")):
        file = ana.post(url, json={"path": path, "content": content}).json()["data"]["file"]
        assert ana.get(f"{url}/{path}").content == content.encode()
        assert ana.get(f"skills/files/{file['id']}").json()["data"]["content"] == content
    assert ana.post(url, json={"path": "none", "content_base64": ""}).json()["data"]["file"]["size"] == 0


def test_a_file_is_replaced_under_the_same_id(api, ana):
    skill = made(ana)
    url = f"skills/{skill['id']}/files"
    first = ana.post(url, json={"path": "run.sh", "content": "a"}).json()["data"]
    second = ana.post(url, json={"path": "run.sh", "content": "b", "executable": True}).json()["data"]
    assert first["file"]["id"] == second["file"]["id"]
    assert second["file"]["executable"] is True
    assert first["digest"] != second["digest"]
    before = api.number()
    assert ana.post(url, json={"path": "run.sh", "content": "b", "executable": True}).status_code == 201
    assert api.number() == before


def test_a_file_is_deleted_by_its_id(api, ana):
    skill = made(ana, files=[{"path": "a.txt", "content": "a"}, {"path": "b.txt", "content": "b"}])
    file = next(file for file in skill["files"] if file["path"] == "a.txt")
    answer = ana.delete(f"skills/files/{file['id']}")
    assert answer.status_code == 200
    digest = ana.get(f"skills/{skill['id']}").json()["data"]["digest"]
    assert answer.json()["data"] == {"id": file["id"], "path": "a.txt", "skill_id": skill["id"], "digest": digest}
    assert paths(ana, skill) == ["SKILL.md", "b.txt"]
    assert ana.delete(f"skills/files/{file['id']}").status_code == 404
    assert ana.get(f"skills/files/{file['id']}").status_code == 404
    again = ana.post(f"skills/{skill['id']}/files", json={"path": "a.txt", "content": ""}).json()["data"]["file"]
    assert again["id"] == file["id"]


def test_deleting_takes_a_precondition_too(api, ana):
    skill = made(ana, files=[{"path": "a.txt", "content": "a"}])
    stale = {"If-Match": ana.get(f"skills/{skill['id']}").headers["etag"]}
    ana.put(f"skills/{skill['id']}", json={"description": "New."})
    file = next(file for file in skill["files"] if file["path"] == "a.txt")
    assert ana.delete(f"skills/files/{file['id']}", headers=stale).status_code == 409
    assert paths(ana, skill) == ["SKILL.md", "a.txt"]


def test_skill_md_cannot_be_deleted_but_be_rewritten(api, ana):
    skill = made(ana)
    (file,) = skill["files"]
    refused = ana.delete(f"skills/files/{file['id']}")
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "invalid_input")
    text = "---\nname: pdf-tables\ndescription: Rewritten.\ntags: [x]\n---\nBody.\n"
    assert ana.post(f"skills/{skill['id']}/files", json={"path": "SKILL.md", "content": text}).status_code == 201
    now = ana.get(f"skills/{skill['id']}").json()["data"]
    assert (now["description"], now["tags"], now["content"]) == ("Rewritten.", ["x"], "Body.\n")


def test_a_file_that_no_skill_may_have_is_refused_and_nothing_is_written(api, ana):
    skill = made(ana, files=[{"path": "a/b.txt", "content": ""}])
    before = api.number()
    for path in ("../x", "/x", "a\\b", "C:x", "a//b", "a/./b", "con", "A/c.txt", "a", "skill.md", "x.", "a\nb",
                 ".git/config", "x/__pycache__/y.pyc", ".DS_Store", "x" * 1025, "/".join("x" * 40)):  # fmt: skip
        answer = ana.post(f"skills/{skill['id']}/files", json={"path": path, "content": ""})
        assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid_input"), path
    for body in ({"path": "x"}, {"path": "x", "content": "", "content_base64": ""}, {"content": ""}, [], None,
                 {"path": "x", "content_base64": "*"}, {"path": "x", "content": 1},
                 {"path": "SKILL.md", "content": "no frontmatter"}, {"path": "SKILL.md", "content": ""}):  # fmt: skip
        assert ana.post(f"skills/{skill['id']}/files", json=body).status_code == 422, body
    assert api.number() == before
    assert paths(ana, skill) == ["SKILL.md", "a/b.txt"]


def test_text_that_no_database_keeps_is_kept_in_the_file(api, ana):
    text = b'---\nname: pdf-tables\ndescription: x\nlicense: "a\\0b"\ntags:\n- "q\\0"\n---\nbo\0dy [[o\0]]\n'
    skill = made(ana)
    url = f"skills/{skill['id']}/files"
    body = {"path": "SKILL.md", "content_base64": base64.b64encode(text).decode()}
    assert ana.post(url, json=body).status_code == 201
    now = ana.get(f"skills/{skill['id']}").json()["data"]
    assert (now["license"], now["content"]) == ("a\ufffdb", "bo\ufffddy [[o\ufffd]]\n")
    assert ana.get(f"{url}/SKILL.md").content == text


def test_a_file_is_never_something_a_browser_would_run(api, ana):
    skill = made(ana, files=[{"path": "한 page.html", "content": "<script>alert(1)</script>"}])
    url = f"skills/{skill['id']}/files"
    page = ana.get(f"{url}/한 page.html")
    assert page.headers["content-type"] == "text/plain; charset=utf-8"
    ana.post(url, json={"path": "한 data.html", "content_base64": "PAA="})
    data = ana.get(f"{url}/한 data.html")
    assert data.headers["content-type"] == "application/octet-stream"
    assert data.headers["content-disposition"] == "attachment; filename*=UTF-8''%ED%95%9C%20data.html"


def test_a_file_is_read_as_it_was_in_a_version(api, ana):
    skill = made(ana, files=[{"path": "a.txt", "content": "one"}])
    url = f"skills/{skill['id']}"
    ana.post(f"{url}/versions", json={"version": "1.0.0"})
    ana.put(f"{url}/tags/first", json={"version": "1.0.0"})
    ana.post(f"{url}/files", json={"path": "a.txt", "content": "two"})
    ana.post(f"{url}/files", json={"path": "b.txt", "content": "new"})
    assert ana.get(f"{url}/files/a.txt").text == "two"
    for version in ("1.0.0", "first", "latest", skill["digest"]):
        assert ana.get(f"{url}/files/a.txt", params={"version": version}).text == "one", version
        assert ana.get(f"{url}/files/b.txt", params={"version": version}).status_code == 404
    assert ana.get(f"{url}/files/a.txt?version=2.0.0").status_code == 404
    assert ana.get(f"{url}/files/none.txt").status_code == 404
    assert ana.get(f"{url}/files/a.txt", params={"version": "sha256:" + "0" * 64}).status_code == 404
