import os
import socket
import sqlite3
import subprocess
import threading
from contextlib import closing

import pytest

from skillyard.app.server_records import forget_server, record_server


@pytest.fixture(autouse=True)
def _no_escapes(monkeypatch):
    """Trying to break out takes seconds, and has its own tests."""
    monkeypatch.setenv("SKILLYARD_SANDBOX_BACKEND", "unsafe")


def checks(result):
    return {(check["name"], check["status"]): check for check in result.json["checks"]}


def test_a_healthy_machine_passes(run):
    result = run("doctor", "--json")
    assert result.code == 0
    assert result.json["healthy"] is True
    assert ("python", "ok") in checks(result)


def test_broken_settings_are_the_first_thing_to_fix(run, tmp_path):
    (tmp_path / "project/skillyard.toml").write_text("prot = 1")
    result = run("doctor", "--json")
    assert result.code == 1
    assert "'port'" in checks(result)["config", "failed"]["fix"]


def test_what_settings_name_must_be_there(run, tmp_path, monkeypatch):
    monkeypatch.setenv("SKILLYARD_ROOTS", str(tmp_path / "none"))
    monkeypatch.setenv("SKILLYARD_ACTIVE_ENVIRONMENT", "lost")
    monkeypatch.setenv("SKILLYARD_PROT", "1")
    found = checks(run("doctor", "--json"))
    assert str(tmp_path / "none") in found["roots", "warning"]["message"]
    assert "skillyard env create lost" in found["environment", "failed"]["fix"]
    assert "SKILLYARD_PROT" in found["environment variables", "warning"]["message"]


def test_one_key_of_a_setting_may_be_set_by_a_variable_of_its_own(run, monkeypatch):
    monkeypatch.setenv("SKILLYARD_LEARNING__SKILLS", "review")
    assert ("environment variables", "warning") not in checks(run("doctor", "--json"))
    monkeypatch.setenv("SKILLYARD_LEARNING__SKILS", "review")
    assert "SKILS" in checks(run("doctor", "--json"))["environment variables", "warning"]["message"]


def test_one_skill_is_one_skill(run, skill):
    skill("tool")
    assert any(check["message"].endswith(": 1 skill") for check in run("doctor", "--json").json["checks"])


def test_broken_skills_lead_to_the_audit(run, tmp_path):
    folder = tmp_path / "person/.agents/skills/broken"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("nothing")
    assert checks(run("doctor", "--json"))["roots", "warning"]["fix"] == "skillyard audit"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_home_that_cannot_be_written_fails(run, tmp_path, monkeypatch):
    (tmp_path / "fixed").mkdir(mode=0o500)
    monkeypatch.setenv("SKILLYARD_HOME", str(tmp_path / "fixed/home"))
    assert ("home", "failed") in checks(run("doctor", "--json"))


def test_a_home_that_is_a_file_fails(run, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SKILLYARD_HOME", str(tmp_path / "file"))
    fix = checks(run("doctor", "--json"))["home", "failed"]["fix"]
    subprocess.run(fix, shell=True, check=True)
    assert (tmp_path / "file.old").is_file()
    assert ("home", "ok") in checks(run("doctor", "--json"))


def test_a_disk_that_is_nearly_full_is_a_warning(run, monkeypatch):
    monkeypatch.setattr("skillyard.app.checks.LEAST_FREE", 1 << 50)
    found = checks(run("doctor", "--json"))["home", "warning"]
    assert "MiB left" in found["message"]
    assert "SKILLYARD_HOME" in found["fix"]


def test_a_missing_git_is_a_warning(run, monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert ("git", "warning") in checks(run("doctor", "--json"))
    assert "fix: Install git with" in run("doctor").out


def test_an_environment_that_cannot_be_is_told_and_the_rest_still_checked(run, monkeypatch):
    monkeypatch.setenv("SKILLYARD_ACTIVE_ENVIRONMENT", "../up")
    found = checks(run("doctor", "--json"))
    assert found["environment", "failed"]["fix"] == "unset SKILLYARD_ACTIVE_ENVIRONMENT"
    assert ("git", "ok") in found


def test_a_registry_that_is_not_there_is_well_and_stays_away(run, tmp_path, monkeypatch):
    monkeypatch.setenv("SKILLYARD_HOME", str(tmp_path / "none"))
    found = checks(run("doctor", "--json"))
    assert "nothing kept yet" in found["database", "ok"]["message"]
    assert ("blobs", "ok") in found
    assert "local" in found["auth", "ok"]["message"]
    assert not list((tmp_path / "none").glob("registry*"))


def test_a_registry_at_the_newest_revision_is_well(run, yard_home):
    assert "revision" in checks(run("doctor", "--json"))["database", "ok"]["message"]
    set_revision(yard_home, "0001")
    assert "brings it up to date" in checks(run("doctor", "--json"))["database", "warning"]["message"]
    set_revision(yard_home, "9999")
    result = run("doctor", "--json")
    assert result.code == 1
    assert "newer Skillyard" in checks(result)["database", "failed"]["message"]


def test_a_damaged_or_unknown_database_is_told(run, yard_home, monkeypatch):
    (yard_home / "registry.sqlite").write_bytes(b"no database" * 1000)
    assert checks(run("doctor", "--json"))["database", "failed"]["fix"].startswith("Stop what uses")
    monkeypatch.setenv("SKILLYARD_DATABASE_URL", "mysql://ann:secret@localhost/x")
    failed = checks(run("doctor", "--json"))["database", "failed"]
    assert "SKILLYARD_DATABASE_URL" in failed["fix"]
    assert "secret" not in str(failed)


def publish(run, tmp_path, name):
    (tmp_path / name).mkdir()
    (tmp_path / name / "SKILL.md").write_text(f"---\nname: {name}\ndescription: What it is for.\n---\n{name}\n")
    assert run("publish", str(tmp_path / name)).code == 0


def blob_of(home, text):
    return next(path for path in (home / "blobs").glob("??/*") if text in path.read_bytes())


def test_files_that_changed_or_went_are_found(run, yard_home, tmp_path):
    for name in ("one", "two"):
        publish(run, tmp_path, name)
    healthy = run("doctor", "--json")
    assert (healthy.code, "none damaged" in checks(healthy)["blobs", "ok"]["message"]) == (0, True)
    blob_of(yard_home, b"name: one").write_bytes(b"other bytes")
    blob_of(yard_home, b"name: two").unlink()
    for deep in ([], ["--deep"]):
        result = run("doctor", "--json", *deep)
        failed = [check["message"] for check in result.json["checks"] if check["status"] == "failed"]
        assert (result.code, len(failed)) == (1, 2)
        assert sorted(word for message in failed for word in ("has changed", "is not in") if word in message) == [
            "has changed",
            "is not in",
        ]


def test_pages_of_the_database_that_were_overwritten_are_found(run, yard_home, tmp_path):
    publish(run, tmp_path, "one")
    file = yard_home / "registry.sqlite"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        root, size = (
            connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'history'").fetchone()[0],
            connection.execute("PRAGMA page_size").fetchone()[0],
        )
    with file.open("r+b") as stream:
        stream.seek((root - 1) * size)
        stream.write(bytes(range(256)) * (size // 256))
    result = run("doctor", "--json")
    assert result.code == 1
    assert "is damaged" in checks(result)["database", "failed"]["message"]


@pytest.mark.parametrize("left", [None, b""])
def test_a_yard_whose_database_is_gone_does_not_begin_again(run, yard_home, tmp_path, left):
    publish(run, tmp_path, "one")
    for file in yard_home.glob("registry.sqlite*"):
        file.unlink()
    if left is not None:
        (yard_home / "registry.sqlite").write_bytes(left)
    failed = checks(run("doctor", "--json"))["database", "failed"]
    assert "holds the files of a yard" in failed["message"]
    refused = run("registry", "list", "--json")
    assert (refused.code, refused.json["error"]["message"]) == (1, failed["message"])
    (yard_home / "blobs").rename(yard_home / "blobs.old")
    assert run("registry", "list", "--json").code == 0


def test_a_server_of_another_home_is_not_taken_for_ones_own(run, yard_home, monkeypatch):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        monkeypatch.setenv("SKILLYARD_PORT", str(listener.getsockname()[1]))
        threading.Thread(target=answer_healthy, args=[listener], daemon=True).start()
        assert "belongs to another home or person" in checks(run("doctor", "--json"))["server", "note"]["message"]
        monkeypatch.setenv("SKILLYARD_PORT", "1")
        record_server(yard_home, url)
        assert checks(run("doctor", "--json"))["server", "ok"]["message"] == f"running at {url}"
        forget_server(yard_home, url)
        assert "not running" in checks(run("doctor", "--json"))["server", "ok"]["message"]


def test_blobs_must_have_a_place(run, yard_home, monkeypatch):
    (yard_home / "blobs").write_text("a file")
    assert checks(run("doctor", "--json"))["blobs", "failed"]["fix"].startswith("mv ")
    monkeypatch.setenv("SKILLYARD_BLOBS_URL", "ftp://x")
    assert checks(run("doctor", "--json"))["blobs", "failed"]["fix"]


def test_a_stranger_on_the_port_and_a_yard_that_is_away_are_told(run, yard_home, monkeypatch):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        monkeypatch.setenv("SKILLYARD_PORT", str(listener.getsockname()[1]))
        threading.Thread(target=answer_nonsense, args=[listener], daemon=True).start()
        monkeypatch.setenv("SKILLYARD_SERVER", "http://127.0.0.1:1")
        found = checks(run("doctor", "--json"))
    assert found["server", "warning"]["fix"] == "skillyard serve --port 0"
    assert "does not answer" in found["yard", "failed"]["message"]


def set_revision(home, revision):
    with closing(sqlite3.connect(home / "registry.sqlite")) as database:
        database.execute("UPDATE alembic_version SET version_num = ?", [revision])
        database.commit()


def answer_healthy(listener):
    client, _ = listener.accept()
    with client:
        client.recv(4096)
        body = b'{"data": {"status": "ok"}}'
        client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s" % (len(body), body))


def answer_nonsense(listener):
    connection, _ = listener.accept()
    with connection:
        connection.recv(1000)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
