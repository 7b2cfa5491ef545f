"""Runs, files and executions over HTTP."""

import json
import random

import pytest

from skillyard.sandbox import workspace
from skillyard.server.limits import MAX_BODY, MAX_UPLOAD
from skillyard.skill.archive import pack
from skillyard.skill.bundle import BundleFile, bundle_of


@pytest.fixture
def sandbox(ana):
    return f"sandboxes/{ana.sandbox()['id']}"


def test_python_remembers_and_tells_what_clients_read(ana, sandbox):
    first = ana.post(f"{sandbox}/python/exec", {"code": "x = 41\nprint('hi')", "include_code": True})
    assert (first["success"], first["output"], first["error"]) == (True, "hi\n", None)
    assert first["code"] == "x = 41\nprint('hi')"
    assert first["execution_id"].startswith("exec-")
    assert first["execution_time_ms"] >= 0
    assert first["data"]["output"] == {"text": "hi\n", "images": []}
    second = ana.post(f"{sandbox}/python/exec", {"code": "x + 1"})
    assert second["output"].strip() == "42"
    assert second["data"]["execution_count"] == first["data"]["execution_count"] + 1
    assert second["code"] is None
    failed = ana.post(f"{sandbox}/python/exec", {"code": "1/0"})
    assert not failed["success"]
    assert "ZeroDivisionError" in failed["error"]


def test_shell_tells_what_clients_read(ana, sandbox):
    done = ana.post(f"{sandbox}/shell/exec", {"command": "echo out; echo err >&2; exit 3", "include_code": True})
    assert (done["success"], done["exit_code"], done["output"], done["error"]) == (False, 3, "out\n", "err\n")
    assert done["command"] == "echo out; echo err >&2; exit 3"
    ana.put(f"{sandbox}/filesystem/files", {"path": "sub/x.txt", "content": "x"})
    where = ana.post(
        f"{sandbox}/shell/exec", {"command": "ls; echo $GREETING", "cwd": "sub", "env": {"GREETING": "ho"}}
    )
    assert where["output"] == "x.txt\nho\n"
    refused = ana.fails("POST", f"{sandbox}/shell/exec", "invalid_path", 400, json={"command": "ls", "cwd": "/etc"})
    assert refused["details"]["field"] == "cwd"


def test_a_run_that_takes_too_long_is_an_answer(ana, sandbox):
    done = ana.post(f"{sandbox}/shell/exec", {"command": "sleep 30", "timeout": 1})
    assert not done["success"]
    assert "1 s" in done["error"]


@pytest.mark.parametrize("body", [{}, {"code": "1", "timeout": 0}, {"code": "1", "timeout": 301}, {"code": 1}])
def test_a_wrong_run_is_a_validation_error(ana, sandbox, body):
    ana.fails("POST", f"{sandbox}/python/exec", "validation_error", 422, json=body)


def test_secrets_of_a_run_are_told_to_nobody(ana, sandbox):
    secret = "correct-horse-battery"
    done = ana.post(f"{sandbox}/shell/exec", {"command": "echo $TOKEN", "secrets": {"TOKEN": secret}})
    assert done["output"] == "***\n"
    entry = ana.get(f"{sandbox}/history/{done['execution_id']}")
    assert secret not in str(entry)
    ana.fails("POST", f"{sandbox}/shell/exec", "validation_error", 422, json={"command": "x", "secrets": {"a b": "c"}})


def test_what_a_profile_lacks_is_not_supported(ana):
    only = f"sandboxes/{ana.sandbox(profile='python-only')['id']}"
    assert ana.post(f"{only}/python/exec", {"code": "1"})["success"]
    refused = "capability_not_supported"
    ana.fails("POST", f"{only}/shell/exec", refused, 400, json={"command": "true"})
    ana.fails("POST", f"{only}/browser/exec", refused, 400, json={"cmd": "open about:blank"})
    ana.fails("POST", f"{only}/browser/exec_batch", refused, 400, json={"commands": ["open about:blank"]})
    ana.fails("GET", f"{only}/filesystem/directories", refused, 400)
    ana.fails("PUT", f"{only}/filesystem/files", refused, 400, json={"path": "x", "content": "y"})
    ana.fails("GET", f"{only}/filesystem/download", refused, 400, params={"path": "x"})


def test_text_files_are_written_read_listed_and_deleted(ana, sandbox):
    files = f"{sandbox}/filesystem/files"
    assert ana.put(files, {"path": "a/b.txt", "content": "héllo\n"}) == {"status": "ok"}
    assert ana.get(files, params={"path": "sub/../a/b.txt"}) == {"content": "héllo\n"}
    entry = next(each for each in ana.get(f"{sandbox}/filesystem/directories")["entries"] if each["name"] != "skills")
    assert (entry["name"], entry["path"], entry["is_dir"], entry["size"]) == ("a", "a", True, None)
    (inner,) = ana.get(f"{sandbox}/filesystem/directories", params={"path": "a"})["entries"]
    assert (inner["name"], inner["path"], inner["is_dir"], inner["size"]) == ("b.txt", "a/b.txt", False, 7)
    assert ana.delete(files, 200, params={"path": "a"}) == {"status": "ok"}
    ana.fails("GET", files, "file_not_found", 404, params={"path": "a/b.txt"})
    ana.fails("DELETE", files, "file_not_found", 404, params={"path": "a"})
    ana.fails("GET", files, "validation_error", 422)


@pytest.mark.parametrize("path", ["/etc/passwd", "/workspace/x", "../x", "a/../../x", "", "a\0b"])
def test_a_path_out_of_the_workspace_is_invalid(ana, sandbox, path):
    files = f"{sandbox}/filesystem"
    ana.fails("GET", f"{files}/files", "invalid_path", 400, params={"path": path})
    ana.fails("PUT", f"{files}/files", "invalid_path", 400, json={"path": path, "content": ""})
    ana.fails("DELETE", f"{files}/files", "invalid_path", 400, params={"path": path})
    ana.fails("GET", f"{files}/directories", "invalid_path", 400, params={"path": path})
    ana.fails("GET", f"{files}/download", "invalid_path", 400, params={"path": path})
    error = ana.fails("POST", f"{sandbox}/shell/exec", "invalid_path", 400, json={"command": "ls", "cwd": path})
    assert error["details"]["field"] == "cwd"
    if path:
        form = {"files": {"file": ("x", b"evil")}, "data": {"path": path}}
        ana.fails("POST", f"{files}/upload", "invalid_path", 400, **form)


def test_a_file_larger_than_other_requests_is_uploaded_and_comes_back_in_pieces(ana, sandbox):
    data = random.Random(7).randbytes(MAX_BODY + 1)
    form = {"files": {"file": ("x", data)}, "data": {"path": "large.bin"}}
    sent = ana.request("POST", f"{sandbox}/filesystem/upload", 200, **form).json()
    assert sent == {"status": "ok", "path": "large.bin", "size": len(data)}
    got = ana.request("GET", f"{sandbox}/filesystem/download", 200, params={"path": "large.bin"})
    assert got.content == data
    assert "content-length" not in got.headers


def test_contents_that_are_too_large_are_told_where_to_go(ana, sandbox):
    body = {"path": "x", "content": "x" * MAX_BODY}
    error = ana.fails("PUT", f"{sandbox}/filesystem/files", "limit_exceeded", 413, json=body)
    assert "files upload" in error["hint"]
    announced = {"content-length": str(MAX_UPLOAD + 1)}
    error = ana.fails("POST", f"{sandbox}/filesystem/upload", "limit_exceeded", 413, headers=announced)
    assert "Split the file" in error["hint"]


def test_a_file_larger_than_sandboxes_take_is_refused(ana, sandbox, monkeypatch):
    monkeypatch.setattr(workspace, "MAX_FILE", 1000)
    form = {"files": {"file": ("x", b"x" * 1001)}, "data": {"path": "x"}}
    error = ana.fails("POST", f"{sandbox}/filesystem/upload", "limit_exceeded", 413, **form)
    assert error["details"]["limit"] == 1000


def test_any_file_is_uploaded_and_downloaded_as_it_is(ana, sandbox):
    data = bytes(range(256)) * 100
    sent = ana.request(
        "POST",
        f"{sandbox}/filesystem/upload",
        200,
        files={"file": ("x.bin", data, "application/octet-stream")},
        data={"path": "deep/er/ü.bin"},
    ).json()
    assert sent == {"status": "ok", "path": "deep/er/ü.bin", "size": len(data)}
    got = ana.request("GET", f"{sandbox}/filesystem/download", 200, params={"path": "deep/er/ü.bin"})
    assert got.content == data
    disposition = "attachment; filename=\"_.bin\"; filename*=UTF-8''%C3%BC.bin"
    assert got.headers["content-disposition"] == disposition
    ana.fails("GET", f"{sandbox}/filesystem/download", "file_not_found", 404, params={"path": "none"})
    ana.fails("GET", f"{sandbox}/filesystem/files", "validation_error", 400, params={"path": "deep/er/ü.bin"})


def test_the_history_tells_filters_and_takes_remarks(ana, sandbox):
    one = ana.post(f"{sandbox}/python/exec", {"code": "1", "tags": "etl,demo", "description": "first"})
    two = ana.post(f"{sandbox}/shell/exec", {"command": "false"})
    history = ana.get(f"{sandbox}/history")
    assert history["total"] == 2
    assert [entry["id"] for entry in history["entries"]] == [two["execution_id"], one["execution_id"]]
    entry = history["entries"][1]
    assert (entry["exec_type"], entry["code"], entry["success"]) == ("python", "1", True)
    assert (entry["description"], entry["tags"], entry["notes"]) == ("first", "demo,etl", None)
    assert (entry["payload_ref"], entry["learn_enabled"], entry["learn_status"]) == (None, False, None)
    assert (entry["network"], entry["ending"]) == ([], "exited")
    assert all(skill["digest"].startswith("sha256:") for skill in entry["skills"])
    assert entry["session_id"].startswith("sess-")
    assert ana.get(f"{sandbox}/history", params={"tags": "demo"})["total"] == 1
    assert ana.get(f"{sandbox}/history", params={"tags": "other,etl"})["total"] == 1
    assert ana.get(f"{sandbox}/history", params={"tags": "other"})["total"] == 0
    ana.fails("GET", f"{sandbox}/history", "validation_error", 400, params={"tags": "a\0b"})
    assert ana.get(f"{sandbox}/history", params={"success_only": True})["total"] == 1
    assert ana.get(f"{sandbox}/history", params={"exec_type": "shell"})["total"] == 1
    assert ana.get(f"{sandbox}/history/last")["id"] == two["execution_id"]
    assert ana.get(f"{sandbox}/history/last", params={"exec_type": "python"})["id"] == one["execution_id"]
    ana.fails("GET", f"{sandbox}/history/last", "not_found", 404, params={"exec_type": "browser"})
    ana.fails("GET", f"{sandbox}/history", "validation_error", 422, params={"exec_type": "dance"})
    ana.fails("GET", f"{sandbox}/history/exec-none", "not_found", 404)
    said = ana.patch(f"{sandbox}/history/{one['execution_id']}", {"notes": "reuse", "description": None})
    assert (said["description"], said["notes"], said["tags"]) == ("first", "reuse", "demo,etl")
    assert ana.get(f"{sandbox}/history", params={"has_notes": True})["total"] == 1
    assert ana.get(f"{sandbox}/history/{one['execution_id']}") == said


def test_a_run_under_a_key_is_done_once(ana, sandbox):
    key = {"idempotency-key": "run-1"}
    first = ana.post(f"{sandbox}/python/exec", {"code": "n = 1"}, headers=key)
    assert ana.post(f"{sandbox}/python/exec", {"code": "n = 1"}, headers=key) == first
    assert ana.get(f"{sandbox}/history")["total"] == 1


def test_there_is_no_trace_that_was_not_kept(ana, sandbox):
    ana.fails("GET", f"{sandbox}/browser/traces/blob:blob-000000000000", "not_found", 404)


def test_output_is_told_as_it_comes_and_the_result_last(ana, sandbox):
    answer = ana.request("POST", f"{sandbox}/shell/stream", 200, json={"command": "echo é; echo err >&2; exit 3"})
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    *told, last = [json.loads(line) for line in answer.text.splitlines()]
    assert sorted((fact["stream"], fact["text"]) for fact in told) == [("stderr", "err\n"), ("stdout", "é\n")]
    assert (last["result"]["exit_code"], last["result"]["output"]) == (3, "é\n")
    assert ana.get(f"{sandbox}/history/last")["id"] == last["result"]["execution_id"]
    python = ana.request("POST", f"{sandbox}/python/stream", 200, json={"code": "print(1)"})
    assert json.loads(python.text.splitlines()[-1])["result"]["success"] is True


def test_what_cannot_be_run_is_an_error_before_any_output(ana, sandbox):
    ana.fails("POST", f"{sandbox}/shell/stream", "invalid_path", 400, json={"command": "ls", "cwd": "/etc"})
    ana.fails("POST", "sandboxes/sandbox-none/python/stream", "not_found", 404, json={"code": "1"})


def test_a_skill_that_is_sent_is_there_whole_and_an_archive_that_is_none_is_refused(ana, sandbox):
    bundle = bundle_of(
        [
            BundleFile("SKILL.md", b"---\nname: mine\ndescription: Mine.\n---\nDo it.\n"),
            BundleFile("scripts/run.sh", b"#!/bin/sh\necho ran\n", executable=True),
        ]
    ).require()
    packed = {"file": ("mine.skill", pack(bundle, "mine"))}
    sent = ana.request("POST", f"{sandbox}/skills/upload", 200, files=packed).json()
    assert (sent["loaded"], sent["path"], sent["digest"]) == (True, "skills/mine", bundle.digest)
    run = ana.post(f"{sandbox}/shell/exec", {"command": "skills/mine/scripts/run.sh"})
    assert run["output"] == "ran\n"
    assert ana.request("POST", f"{sandbox}/skills/upload", 200, files=packed).json() == sent
    builtin = {"file": ("skill-creator.skill", pack(bundle, "skill-creator"))}
    other = ana.request("POST", f"{sandbox}/skills/upload", 200, files=builtin).json()
    assert (other["loaded"], other["path"]) == (False, None)
    assert "delivered as another skill" in other["reason"]
    ana.fails("POST", f"{sandbox}/skills/upload", "validation_error", 400, files={"file": ("x.skill", b"none")})
    ana.fails("POST", "sandboxes/sandbox-none/skills/upload", "not_found", 404, files=packed)
