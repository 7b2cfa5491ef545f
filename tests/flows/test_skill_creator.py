"""Skills made the skill-creator's way, over real MCP and in real sandboxes, from feedback to the published version."""

import asyncio
import json
import threading
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from runpy import run_path

import pytest
import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from sqlalchemy import select

from skillyard.app.learning_skills import skill_commits
from skillyard.app.yard import Yard, open_yard
from skillyard.config.sections import Learning
from skillyard.config.settings import Settings
from skillyard.errors import InputError, UnavailableError, UsageError
from skillyard.history.entries import Why
from skillyard.identity.agents import AgentFields
from skillyard.identity.principals import Principal
from skillyard.learning.commits import Commits
from skillyard.learning.committing import Committing
from skillyard.learning.drafts import Committed, Proposed
from skillyard.learning.lessons import Lessons
from skillyard.learning.skills.applying import SkillApplier
from skillyard.learning.skills.handmade import HandmadeSkills
from skillyard.library.builtin import builtin_root
from skillyard.llm.models import ModelSource
from skillyard.sandbox.models import ExecutionRow
from skillyard.server.run import address_of, bind
from skillyard.skill.bundle import Bundle, BundleFile

pytestmark = pytest.mark.anyio
serving = run_path(str(Path(__file__).parents[1] / "computer_use_server.py"))["computer_use_server"]

SCRIPT = (
    '#!/usr/bin/env python3\n"""환불 금액을 계산한다."""\nimport argparse\n\nargparse.ArgumentParser().parse_args()\n'
)
ARTIFACT = {
    "name": "handle-refunds",
    "description": "환불을 처리한다. Use for refunds.",
    "body_markdown": "# 환불\n\nRun `scripts/total.py`, then read `references/limits.md`.\n",
    "additional_files": {"scripts/total.py": SCRIPT, "references/limits.md": "# Limits\n\n100만원까지.\n"},
}
LOGO = BundleFile("assets/logo.png", b"\x89PNG\0\xff")
STEPS = {"summary": "x", "edits": [{"path": "SKILL.md", "find": "# 환불\n", "replace": "# 환불\n\nSay sorry first.\n"}]}


@dataclass(frozen=True, kw_only=True)
class Shop:
    yard: Yard
    boss: Principal
    skills: HandmadeSkills

    async def bundle(self, skill_id: str) -> Bundle:
        version = await self.yard.registry.versions.get(self.boss, skill_id)
        return await self.yard.registry.bundles.load(version.digest)

    async def entries(self):
        return (await self.yard.registry.chronicle.entries(self.boss, everything=True)).entries


@pytest.fixture
def shop(tmp_path, new_home):
    @asynccontextmanager
    async def new(**settings):
        here = Settings(home=new_home(tmp_path / "home"), **settings)
        async with open_yard(here) as yard:
            tenant = await yard.people.ensure_tenant("shop")
            boss = await yard.access.of_person(await yard.people.ensure_person(tenant, "boss", admin=True))
            agents = yard.registry.agents
            if not await agents.all(boss):
                await agents.create(boss, AgentFields(name="Support"), agent_id="a", why=Why())
            lessons = Lessons(yard.database, yard.blobs)
            applier = SkillApplier(yard.database, yard.registry, lambda: yard.releases.canaries)
            commits = Commits(yard.database, yard.history, [applier], Learning())
            skills = skill_commits(
                here,
                ModelSource(here),
                yard.database,
                yard.history,
                yard.registry,
                yard.sandboxes,
                commits=commits,
                committing=Committing(commits, lessons),
            )
            yield Shop(yard=yard, boss=boss, skills=HandmadeSkills(skills, boss))

    return new


@pytest.fixture
def computer(tmp_path):
    root = tmp_path / "computer"
    root.mkdir()
    with serving(root, "--prefix", "mcp_computer-use_", "--shape", "text") as (url, _):
        yield url, root


@contextmanager
def skill_server(read):
    """A skill server on this machine, whose one tool reads documents."""
    server = MCPServer("claude-skills", log_level="ERROR")
    server.tool(name="mcp_claude-skills_read_skill_document")(read)
    with bind("127.0.0.1", 0) as listening:
        config = uvicorn.Config(server.streamable_http_app(), log_level="warning", timeout_graceful_shutdown=1)
        running = uvicorn.Server(config)
        thread = threading.Thread(target=asyncio.run, args=(running.serve(sockets=[listening]),))
        thread.start()
        try:
            yield f"{address_of(listening)}/mcp"
        finally:
            running.should_exit = True
            thread.join()


async def made_and_changed(shop: Shop):
    """A skill as it is made, then changed; both ways must publish just what was written."""
    done = await shop.skills.commit_to_skill("a", ARTIFACT, feedback_content="환불 절차")
    assert isinstance(done, Committed)
    bundle = await shop.bundle(done.effects[0].id)
    assert {file.path for file in bundle} == {"SKILL.md", "scripts/total.py", "references/limits.md"}
    assert bundle.get("SKILL.md").data.decode().endswith(ARTIFACT["body_markdown"])
    assert bundle.get("scripts/total.py").executable
    skill_id, more = done.effects[0].id, (LOGO, BundleFile("evals/files/in.csv", b"1\n"))
    for file in more:
        await shop.yard.registry.workbench.put_file(shop.boss, skill_id, file, why=Why())
    await shop.yard.registry.publishing.publish(shop.boss, skill_id, why=Why())
    changed = await shop.skills.commit_to_skill("a", STEPS, operation="UPDATE", skill_id="handle-refunds")
    assert changed.effects[-1].version == "0.1.2"
    after = await shop.bundle(skill_id)
    assert b"Say sorry first." in after.get("SKILL.md").data
    assert [after.get(file.path) for file in more] == list(more)


async def test_a_skill_is_made_at_a_computer_use_server_with_scripts_of_a_skill_server(shop, computer):
    asked = []

    def read(skill_name: str, document_path: str, include_base64: bool = False) -> dict[str, str]:
        asked.append((skill_name, document_path))
        return {"content": (builtin_root() / skill_name / document_path).read_text(encoding="utf-8")}

    url, root = computer
    with skill_server(read) as documents:
        flags = {"use_skill_creator_workflow": True, "computer_use_mcp_url": url, "mcp_server_url": documents}
        async with shop(**flags) as here:
            await made_and_changed(here)
            assert not (await here.yard.sandboxes.sandboxes.page(here.boss)).sandboxes
    assert set(asked) == {("skill-creator", "scripts/init_skill.py"), ("skill-creator", "scripts/package_skill.py")}
    assert not list(root.iterdir())  # every session was deleted


async def test_a_skill_is_made_in_a_sandbox_of_the_yard_itself(shop):
    async with shop(use_skill_creator_workflow=True, computer_use_mcp_url="local") as here:
        await made_and_changed(here)
        async with here.yard.database.read() as session:
            ran = list(await session.scalars(select(ExecutionRow.code)))
        for program in ("init_skill", "quick_validate", "package_skill"):
            assert any(program in code for code in ran)
        assert not (await here.yard.sandboxes.sandboxes.page(here.boss)).sandboxes


async def test_a_failed_attempt_is_kept_with_its_content_and_nothing_else_is_tried(shop, tmp_path):
    def read(skill_name: str, document_path: str) -> str:
        del skill_name
        return "raise SystemExit('the packer is broken')" if "package" in document_path else "import sys\n"

    root = tmp_path / "another-computer"
    root.mkdir()
    with skill_server(read) as documents, serving(root) as (url, _):
        flags = {"use_skill_creator_workflow": True, "computer_use_mcp_url": url, "mcp_server_url": documents}
        async with shop(**flags) as here:
            with pytest.raises(InputError, match="package_skill refused the skill: the packer is broken"):
                await here.skills.commit_to_skill("a", ARTIFACT, feedback_content="환불 절차")
            refused = (await here.entries())[0]
            assert not refused.done
            assert refused.change.subject.label == "boss/handle-refunds"
            assert refused.why.feedback == "환불 절차"
            intended = await here.yard.registry.bundles.load(refused.change.digest_after)
            last = intended.get("SKILL.md").data.decode().splitlines()[-1]
            assert last.startswith("<!-- [history] skill-creator, not applied: package_skill refused the skill")
            assert last.endswith("the packer is broken -->")
            assert not (await here.yard.registry.shelf.page(here.boss)).skills
    assert not list(root.iterdir())


async def test_a_server_that_has_no_such_script_or_is_not_there_fails_the_attempt(shop, computer):
    def read(skill_name: str, document_path: str) -> str:
        raise ToolError(f"{skill_name} has no {document_path}")

    flags = {"use_skill_creator_workflow": True, "computer_use_mcp_url": computer[0]}
    with skill_server(read) as documents:
        async with shop(**flags, mcp_server_url=documents) as here:
            with pytest.raises(UnavailableError, match="skill-creator has no scripts/package_skill"):
                await here.skills.commit_to_skill("a", ARTIFACT)
    async with shop(use_skill_creator_workflow=True, computer_use_mcp_url="http://127.0.0.1:9/mcp") as here:
        plain = {**ARTIFACT, "body_markdown": "Pay.\n", "additional_files": {}}
        with pytest.raises(UnavailableError, match="cannot be reached"):
            await here.skills.commit_to_skill("a", plain)
        assert not (await here.yard.registry.shelf.page(here.boss)).skills


async def test_without_an_address_the_flag_is_told_and_skills_are_made_directly(shop, caplog):
    caplog.set_level("INFO", logger="skillyard.learning.skills")
    async with shop(use_skill_creator_workflow=True) as here:
        done = await here.skills.commit_to_skill("a", {**ARTIFACT, "body_markdown": "Pay.\n", "additional_files": {}})
        assert isinstance(done, Committed)
        assert "COMPUTER_USE_MCP_URL is not set" in caplog.text
        with pytest.raises(UsageError, match="no computer for skill-creator"):
            await here.skills.commit_to_skill_via_skill_creator("a", ARTIFACT)


async def test_scripts_are_run_before_they_are_published(shop):
    async with shop() as here:
        broken = {
            **ARTIFACT,
            "additional_files": {**ARTIFACT["additional_files"], "scripts/total.py": "print(undefined)"},
        }
        with pytest.raises(InputError, match="name 'undefined' is not defined"):
            await here.skills.commit_to_skill("a", broken)
        assert not (await here.yard.registry.shelf.page(here.boss)).skills
        assert not (await here.yard.sandboxes.sandboxes.page(here.boss)).sandboxes


async def test_where_nothing_can_be_tried_scripts_wait_for_a_person(shop):
    async with shop(sandbox_backend="docker", docker_host="tcp://127.0.0.1:9") as here:
        result = await here.skills.commit_to_skill("a", ARTIFACT)
        assert isinstance(result, Proposed)
        assert "Nobody could try its scripts" in result.warnings[0]["message"]


async def test_a_change_that_fails_the_evals_is_refused_and_words_are_for_a_person(shop):
    check = {"run": "grep -q sorry SKILL.md"}
    evals = {"evals": [{"id": 1, "prompt": "p", "checks": [check]}]}
    artifact = {
        **ARTIFACT,
        "body_markdown": "# 환불\n\nSay sorry.\n",
        "additional_files": {"evals/evals.json": json.dumps(evals)},
    }
    worse = {"summary": "x", "edits": [{"path": "SKILL.md", "find": "Say sorry.", "replace": "Say nothing."}]}
    async with shop() as here:
        assert isinstance(await here.skills.commit_to_skill("a", artifact), Committed)
        with pytest.raises(InputError, match="holds with the old skill and would not hold any more"):
            await here.skills.commit_to_skill("a", worse, operation="UPDATE", skill_id="handle-refunds")
        eased = {"summary": "x", "edits": [{"path": "evals/evals.json", "content": json.dumps({"evals": []})}]}
        with pytest.raises(InputError, match="a lesson does not change them"):
            await here.skills.commit_to_skill("a", eased, operation="UPDATE", skill_id="handle-refunds")
        better = await here.skills.commit_to_skill("a", STEPS, operation="UPDATE", skill_id="handle-refunds")
        assert isinstance(better, Committed)
        release = await here.yard.releases.releases.get(here.boss, better.effects[0].id)
        [evaluation] = await here.yard.releases.evaluations.all(here.boss, release.candidate_id)
        told = "holds: without the skill no, with the old one yes, with the new one yes."
        assert (release.stage, evaluation.passed, told in evaluation.report) == ("stable", True, True)
        words = {"evals/evals.json": json.dumps({"evals": [{"id": 1, "prompt": "p", "assertions": ["It is polite."]}]})}
        judged = await here.skills.commit_to_skill("a", {**artifact, "name": "other", "additional_files": words})
        assert isinstance(judged, Proposed)
        assert "A person has to judge what its evals say in words" in judged.warnings[0]["message"]
        assert "“It is polite.”" in judged.warnings[0]["message"]
