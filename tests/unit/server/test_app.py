import asyncio
import json
import resource
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from skillyard.errors import StoreUnavailableError
from skillyard.library.folder import FolderLibrary
from skillyard.server.parts import Parts
from skillyard.server.soundness import Soundness
from skillyard.skill.library import Layered

TEXT = "---\nname: {name}\ndescription: {description}\n---\n\n# {name}\n"


@pytest.fixture
def root(tmp_path):
    """Skills in a folder of the machine: one in order, one of another language, one broken."""
    skills = {"pdf-tables": "Extracts tables from PDF files.", "한국어-번역": "한국어 문서를 번역합니다."}
    for name, description in skills.items():
        folder = tmp_path / "skills" / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(TEXT.format(name=name, description=description))
    scripts = tmp_path / "skills/pdf-tables/scripts"
    scripts.mkdir()
    (scripts / "run.html").write_text("<script>alert(1)</script>")
    (scripts / "data.bin").write_bytes(b"\x00\xff")
    broken = tmp_path / "skills/broken"
    broken.mkdir()
    (broken / "SKILL.md").write_text("no frontmatter")
    return tmp_path / "skills"


@pytest.fixture
def client(start, root):
    with start(person="root", library=Layered([FolderLibrary(root, label="test")])) as served:
        yield served.client


def test_the_index_links_to_what_there_is(client):
    links = client.get("/").json()["data"]
    for link in links.values():
        assert client.get(link).status_code == 200


def test_health_answers(client):
    body = client.get("/healthz").json()
    assert body["success"] is True
    assert body["data"]["status"] == "ok"
    assert client.head("/healthz").status_code == 200


def test_the_contract_is_published_and_no_page_loads_foreign_scripts(client):
    paths = client.get("/openapi.json").json()["paths"]
    assert "/api/v1/library/skills/{skill_id}/files/{path}" in paths
    assert client.get("/docs").status_code == 404
    assert client.get("/redoc").status_code == 404


def test_skills_are_listed_by_id_without_the_broken_one(client):
    body = client.get("/api/v1/library/skills").json()
    assert [skill["id"] for skill in body["data"]] == ["pdf-tables", "한국어-번역"]
    assert body["total"] == 2
    assert set(body["data"][0]) >= {"id", "name", "description", "location", "source"}


def test_a_limit_shortens_the_list_and_the_total_says_so(client):
    body = client.get("/api/v1/library/skills", params={"limit": 1}).json()
    assert len(body["data"]) == 1
    assert body["total"] == 2


def test_a_search_says_how_many_there_are_beyond_the_limit(client, root):
    for number in range(3):
        folder = root / f"pdf-{number}"
        folder.mkdir()
        (folder / "SKILL.md").write_text(TEXT.format(name=folder.name, description="Reads PDF files."))
    body = client.get("/api/v1/library/skills", params={"q": "pdf", "limit": 2}).json()
    assert len(body["data"]) == 2
    assert body["total"] == 4


def test_skills_are_found_in_any_language(client):
    assert [s["id"] for s in client.get("/api/v1/library/skills?q=pdf+tables").json()["data"]] == ["pdf-tables"]
    found = client.get("/api/v1/library/skills", params={"q": "번역"}).json()["data"]
    assert [skill["id"] for skill in found] == ["한국어-번역"]
    assert found[0]["score"] > 0
    assert client.get("/api/v1/library/skills?q=zebra").json()["data"] == []


def test_one_skill_carries_document_files_and_findings(client):
    data = client.get("/api/v1/library/skills/PDF-Tables").json()["data"]
    assert data["id"] == "pdf-tables"
    assert data["body"].strip() == "# pdf-tables"
    assert [file["path"] for file in data["files"]] == ["SKILL.md", "scripts/data.bin", "scripts/run.html"]
    assert data["digest"].startswith("sha256:")
    assert data["findings"] == []


def test_a_skill_with_an_unfit_file_is_still_shown(client, root):
    (root / "pdf-tables/link").symlink_to("/etc/passwd")
    data = client.get("/api/v1/library/skills/pdf-tables").json()["data"]
    assert data["body"]
    assert data["files"] == []
    assert data["findings"]


def test_a_change_on_disk_is_seen_at_once(client, root):
    assert client.get("/api/v1/library/skills/new").status_code == 404
    (root / "new").mkdir()
    (root / "new/SKILL.md").write_text(TEXT.format(name="new", description="Is new."))
    assert client.get("/api/v1/library/skills/new").json()["data"]["description"] == "Is new."


def test_a_file_is_served_as_plain_text_that_no_browser_runs(client):
    answer = client.get("/api/v1/library/skills/pdf-tables/files/scripts/run.html")
    assert answer.text == "<script>alert(1)</script>"
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in answer.headers["content-security-policy"]


def test_bytes_are_served_as_a_download(client):
    answer = client.get("/api/v1/library/skills/pdf-tables/files/scripts/data.bin")
    assert answer.content == b"\x00\xff"
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith("attachment")


@pytest.mark.parametrize(
    "path", ["../../../etc/passwd", "..%2f..%2fetc/passwd", "%2fetc/passwd", "none.md", "scripts", ""]
)
def test_no_path_leads_out_of_a_skill(client, path):
    answer = client.get(f"/api/v1/library/skills/pdf-tables/files/{path}")
    assert answer.status_code == 404
    assert answer.json()["success"] is False


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nowhere", 404, "not_found"),
        ("GET", "/api/v1/library/skills/none", 404, "not_found"),
        ("GET", "/api/v1/library/skills/broken", 422, "invalid_input"),
        ("GET", "/api/v1/library/skills?limit=0", 422, "invalid_input"),
        ("GET", "/api/v1/library/skills?limit=x", 422, "invalid_input"),
        ("POST", "/api/v1/library/skills", 405, "usage"),
        ("DELETE", "/", 405, "usage"),
    ],
)
def test_every_error_has_one_shape(client, method, path, status, code):
    answer = client.request(method, path)
    assert answer.status_code == status
    body = answer.json()
    assert body["success"] is False
    assert set(body["error"]) == {"code", "message", "hint", "details"}
    assert body["error"]["code"] == code
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_an_unexpected_failure_has_the_same_shape_and_says_nothing_inside(start, root, monkeypatch):
    library = FolderLibrary(root)
    monkeypatch.setattr(library, "catalog", lambda: 1 / 0)
    with start(person="root", library=library) as served:
        answer = served.client.get("/api/v1/library/skills")
    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == "internal"
    assert "division" not in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8321", "localhost:1", "LOCALHOST", "[::1]:8321", "127.9.9.9"])
def test_requests_that_name_this_machine_pass(client, host):
    assert client.get("/healthz", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.1", "", "[::2]", "0x7f.1"],
)
def test_requests_under_another_name_are_refused(client, host):
    answer = client.get("/healthz", headers={"host": host})
    assert answer.status_code == 403
    assert answer.json()["error"]["code"] == "not_allowed"


def test_a_file_name_that_is_no_utf8_does_not_hide_the_other_skills(client, root):
    odd = root / b"odd\xff".decode("utf-8", "surrogateescape") / "inner"
    odd.mkdir(parents=True)
    (odd / "SKILL.md").write_text(TEXT.format(name="inner", description="Lies deep."))
    answer = client.get("/api/v1/library/skills")
    assert answer.status_code == 200
    assert {skill["id"] for skill in answer.json()["data"]} >= {"pdf-tables", "inner"}
    json.dumps(answer.json()).encode()


def stored(served, text):
    """The file in the store that holds a text."""
    root = Path(served.yard.blobs.place)
    return next(path for path in root.glob("??/*") if text in path.read_bytes())


def test_a_server_over_damaged_files_is_not_ready_until_they_are_whole_again(start):
    with start(person="ana") as served:
        made = served.client.post("/api/v1/skills", json={"name": "pdf", "description": "Marked text."})
        assert made.status_code == 201
        assert served.client.get("/readyz").status_code == 200
        blob = stored(served, b"Marked text.")
        whole = blob.read_bytes()
        blob.write_bytes(whole.replace(b"M", b"m"))
        served.app.api.state.parts = Parts({"blobs": served.yard.require_blobs})
        for _ in range(200):  # each look takes a sample
            served.run(served.yard.stored.sample, 4)
        answer = served.client.get("/readyz")
        assert (answer.status_code, answer.json()["error"]["details"]["checks"]) == (503, {"blobs": "blob_corrupt"})
        exported = served.client.get(f"/api/v1/skills/{made.json()['data']['id']}/export")
        assert exported.json()["error"]["code"] == "blob_corrupt"
        assert served.yard.blobs.place not in exported.text
        blob.write_bytes(whole)
        served.app.api.state.parts = Parts({"blobs": served.yard.require_blobs})
        assert served.client.get("/readyz").status_code == 200


def test_a_server_that_could_store_nothing_is_not_ready(start):
    with start(person="ana") as served:
        served.client.post("/api/v1/skills", json={"name": "pdf", "description": "x"})
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))  # what a full disk does, to this process alone
        try:
            answer = served.client.get("/readyz")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        checks = answer.json()["error"]["details"]["checks"]
        assert (answer.status_code, checks["database"], checks["blobs"]) == (503, "unavailable", "unavailable")


def test_a_database_whose_pages_are_damaged_is_not_ready(start):
    with start(person="ana") as served:
        path = Path(str(served.yard.database.url.database))
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'versions'").fetchone()[0]
            size = connection.execute("PRAGMA page_size").fetchone()[0]
        with path.open("r+b") as stream:
            stream.seek((root - 1) * size)
            stream.write(bytes(size))
        soundness = Soundness()
        asyncio.run(soundness.look(served.yard.settings.database))
        with pytest.raises(StoreUnavailableError, match="is damaged"):
            asyncio.run(soundness.require())
