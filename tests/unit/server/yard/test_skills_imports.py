KEY = "sk-live-0123456789abcdefghij"
SESSION = {"agent": "claude", "session": "aaaa-1", "folder": "/work/app"}


def run(own_id="t1", **more):
    return {"id": own_id, "code": "ls", "success": True, "exit_code": 0, "at": "2026-11-15T10:00:00Z", **more}


def test_runs_from_elsewhere_are_listed_among_the_executions(ana):
    body = {"session": SESSION, "runs": [run(code=f"TOKEN={KEY} ls", output="x\n", milliseconds=1500), run("t2")]}
    done = ana.post("skills/executions/import", body)
    assert (done["recorded"], done["repeated"]) == (2, 0)
    assert ana.post("skills/executions/import", body)["repeated"] == 2
    found = ana.get("skills/executions", params={"sandbox_id": done["sandbox_id"]})
    assert found["total"] == 2
    told = {one["code"]: (one["success"], one["tags"]) for one in found["entries"]}
    assert told["ls"] == (True, "claude,imported")
    assert KEY not in str(found)
    assert ana.get("sandboxes")["items"] == []


def test_nobody_else_has_them(ana, plane):
    ana.post("skills/executions/import", {"session": SESSION, "runs": [run()]})
    assert plane("ben").get("skills/executions")["total"] == 0


def test_what_is_wrong_is_refused(ana):
    for session, runs in (
        ({**SESSION, "agent": "No Such"}, [run()]),
        ({**SESSION, "session": ""}, [run()]),
        (SESSION, [run(at="2026-11-15T10:00:00")]),
        (SESSION, [run(code="")]),
        (SESSION, [run(exit_code=2**40)]),
        (SESSION, [run(milliseconds=2**40)]),
        (SESSION, [run()] * 501),
    ):
        body = {"session": session, "runs": runs}
        ana.fails("POST", "skills/executions/import", "validation_error", 422, json=body)
