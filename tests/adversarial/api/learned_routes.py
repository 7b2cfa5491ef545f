"""The routes of learned skills: who may ask what, and what they are asked about."""

SKILLS = "/v1/skills"
CANDIDATE = f"{SKILLS}/candidates/{{candidate_id}}"
RELEASE = f"{SKILLS}/releases/{{release_id}}"
STEPS = {"kind": "code", "steps": [{"type": "shell", "cmd": "true"}]}
LEARNED_ROUTES = [
    ("everyone who may write", f"POST {SKILLS}/payloads", "none", {"json": {"payload": {"a": "{new}"}}}),
    ("person", f"GET {SKILLS}/payloads/{{payload_ref}}", "payload", {}),
    (
        "person with write, of their own",
        f"POST {SKILLS}/candidates",
        "evidence",
        {"json": {"skill_key": "{new}", "source_execution_ids": ["{execution_id}"]}},
    ),
    ("everyone", f"GET {SKILLS}/candidates", "none", {}),
    ("person", f"GET {CANDIDATE}", "candidate", {}),
    ("person with write", f"DELETE {CANDIDATE}", "candidate", {}),
    ("person with write", f"POST {CANDIDATE}/evaluate", "candidate", {"json": {"passed": True}}),
    ("nobody who may write", f"POST {CANDIDATE}/replay", "no skill", {"json": {"runs": 1}}),
    ("person", f"GET {CANDIDATE}/evaluations", "candidate", {}),
    ("person", f"GET {SKILLS}/evaluations/{{evaluation_id}}", "release", {}),
    ("person with publish", f"POST {CANDIDATE}/promote", "release", {"json": {}}),
    ("everyone", f"GET {SKILLS}/releases", "none", {}),
    ("person", f"GET {RELEASE}", "release", {}),
    ("person", f"GET {RELEASE}/health", "release", {}),
    ("person", f"GET {RELEASE}/diff/{{other_id}}", "release", {}),
    ("person with write", f"POST {SKILLS}/{{skill_key}}/run", "release", {"json": {}}),
    ("everyone", f"GET {SKILLS}/runs", "none", {}),
    ("person", f"GET {SKILLS}/runs/{{run_id}}", "run", {}),
    ("nobody", f"GET {SKILLS}/runs/{{run_id}}/screenshot", "run", {}),
    ("person with write", f"POST {RELEASE}/rollback", "ended", {}),
    ("person with write", f"POST {RELEASE}/kill", "ended", {}),
    ("person with write", f"POST {RELEASE}/retire", "ended", {}),
    ("everyone who may write", f"POST {SKILLS}/{{skill_key}}/kill", "ended", {}),
    ("person with write", f"DELETE {RELEASE}", "ended", {}),
    ("everyone who may write", f"POST {SKILLS}/mine", "none", {"json": {"execution_ids": []}}),
    ("person", f"GET {SKILLS}/mine/{{mining_id}}", "mining", {}),
    ("everyone", f"GET {SKILLS}/benchmarks", "none", {}),
    ("everyone who may write", f"PUT {SKILLS}/benchmarks/{{name}}", "benchmark", {"json": {"cases": [{}]}}),
    ("person", f"GET {SKILLS}/benchmarks/{{name}}", "own benchmark", {}),
    ("person with write", f"DELETE {SKILLS}/benchmarks/{{name}}", "own benchmark", {}),
    ("everyone", f"GET {SKILLS}/search", "none", {"params": {"q": "it"}}),
    ("everyone", f"GET {SKILLS}/insights", "none", {}),
    ("everyone", f"GET {SKILLS}/gaps", "none", {}),
    ("everyone", f"GET {SKILLS}/retirements", "none", {}),
    ("everyone", f"GET {SKILLS}/executions", "none", {}),
    ("everyone", f"GET {SKILLS}/executions/import", "none", {}),
    (
        "everyone who may write",
        f"POST {SKILLS}/executions/import",
        "none",
        {"json": {"session": {"agent": "codex", "session": "{new}"}, "runs": []}},
    ),
    ("everyone who may write", f"DELETE {SKILLS}/executions/import", "none", {}),
    (
        "nobody who may write",
        "POST /v1/sandboxes/{sandbox_id}/browser/skills/{skill_key}/run",
        "no skill",
        {"json": {}},
    ),
]


class LearnedTargets:
    """What the owner learned; for `World`, which makes it when it is asked for."""

    def _payload(self):
        return {"payload_ref": self.made_yard(f"{SKILLS}/payloads", {"payload": STEPS, "kind": "code"})["payload_ref"]}

    def _evidence(self):
        return self.target("execution", fresh=False)

    def _candidate(self):
        key = self.new()
        body = {
            "skill_key": key,
            "source_execution_ids": [self.target("execution", fresh=False)["execution_id"]],
            "payload_ref": self._payload()["payload_ref"],
        }
        return {"candidate_id": self.made_yard(f"{SKILLS}/candidates", body)["id"], "skill_key": key}

    def _release(self):
        made = self._candidate()
        path = f"{SKILLS}/candidates/{made['candidate_id']}"
        evaluation = self.made_yard(f"{path}/evaluate", {"passed": True})
        release = self.made_yard(f"{path}/promote", {})["id"]
        return {**made, "evaluation_id": evaluation["id"], "release_id": release, "other_id": release}

    def _ended(self):
        return self._release()

    def _run(self):
        ran = self.made_yard(f"{SKILLS}/{self._release()['skill_key']}/run", {})
        assert ran["verdict"] == "PASS", ran
        return {"run_id": ran["id"]}

    def _mining(self):
        return {"mining_id": self.made_yard(f"{SKILLS}/mine", {"execution_ids": []})["id"]}

    def _benchmark(self):
        return {"name": self.new()}

    def _own_benchmark(self):
        name = self.new()
        answer = self.ask("owner", "PUT", f"{SKILLS}/benchmarks/{name}", json={"cases": [{}]})
        assert answer.is_success, answer.text
        return {"name": name}

    def _no_skill(self):
        parts = {"sandbox_id": "sandbox-000000000000", "candidate_id": "sc-000000000000"}
        return {**parts, "skill_key": "never-learned"}
