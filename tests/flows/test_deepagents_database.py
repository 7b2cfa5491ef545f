"""Skills of the registry's database in the state of an agent that keeps no files of its own."""

import asyncio
from contextlib import asynccontextmanager
from uuid import UUID

import pytest

pytest.importorskip("deepagents")

from deepagents import create_deep_agent
from deepagents.backends import FilesystemBackend, StateBackend
from deepagents.middleware.filesystem import FilesystemMiddleware
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from sqlalchemy import NullPool
from sqlalchemy.exc import OperationalError, ProgrammingError
from sqlalchemy.ext.asyncio import async_sessionmaker, create_async_engine
from tests.scripted_chat import calls, scripted

from skillyard import Skillyard
from skillyard.agents import deepagents_adapter
from skillyard.agents.deepagents_adapter import DatabaseSkillAdapter
from skillyard.agents.ordinary_agent import enable_skills, has_skills
from skillyard.agents.preload import preload
from skillyard.agents.yard_source import YardSource
from skillyard.blobs.store import open_blobs
from skillyard.db.database import Database
from skillyard.delivery.ship_plan import Step
from skillyard.errors import UsageError

pytestmark = pytest.mark.anyio
SHEET = ("sheet/SKILL.md", "sheet/scripts/run.py")
READ_PDF = calls("read_file", file_path="/workspace/skills/pdf/SKILL.md", limit=1000)


def write_skill(root, name, description, body="Do it.\n"):
    folder = root / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {description}\n---\n\n{body}")
    (folder / "scripts").mkdir(exist_ok=True)
    (folder / "scripts/run.py").write_text("print('run')\n")
    return folder


@pytest.fixture
def home(tmp_path, new_home):
    return new_home(tmp_path / "yard")


@pytest.fixture
def yard(home):
    with Skillyard(home=home) as client:
        yield client


@pytest.fixture
def me(yard):
    return yard.me()["id"]


@pytest.fixture
def publish(yard, tmp_path):
    def publish(name, description="Reads and fills PDF forms.", body="Do it.\n", **more):
        return yard.publish(write_skill(tmp_path / "drafts", name, description, body), **more)

    return publish


@pytest.fixture
def sessions(home):
    # Without a pool, for each test has an event loop of its own.
    return async_sessionmaker(
        create_async_engine(f"sqlite+aiosqlite:///{home / 'registry.sqlite'}", poolclass=NullPool)
    )


@pytest.fixture
def adapter(home, me, sessions):
    def adapter(skill_ids=None, **more):
        more.setdefault("db_session_factory", sessions)
        return DatabaseSkillAdapter(more.pop("user_id", me), skill_ids, blobs=open_blobs(str(home / "blobs")), **more)

    return adapter


def agent(model, *middleware):
    files = FilesystemMiddleware(backend=StateBackend())
    return create_agent(model, middleware=[files, *middleware], checkpointer=InMemorySaver())


def ask(text="Fill the form."):
    return {"messages": [HumanMessage(text)]}


CONFIG = {"configurable": {"thread_id": "thread-1"}}


def answers(state):
    return [message.text for message in state["messages"] if isinstance(message, ToolMessage)]


def test_the_skills_are_there_from_the_first_turn(publish, adapter, yard):
    publish("pdf", body="Use scripts/run.py.\n", version="1.0.0")
    model = scripted(READ_PDF, calls("read_file", file_path="/workspace/skills/pdf/scripts/run.py"), "Done.")
    done = agent(model, adapter(agent="writer")).invoke(ask(), CONFIG)
    assert "Reads and fills PDF forms." in model.system(0)
    assert "/workspace/skills/pdf/SKILL.md" in model.system(0)
    skill, script = answers(done)
    assert "Use scripts/run.py." in skill
    assert "print('run')" in script
    counted = {(day["version"], day["agent"], day["event"]): day["count"] for day in yard.usage_of("pdf")}
    assert counted == {("1.0.0", "writer", "shown"): 1, ("1.0.0", "writer", "loaded"): 1}


async def test_the_same_is_so_for_an_agent_that_is_awaited(publish, adapter, yard):
    publish("pdf", body="Use scripts/run.py.\n", version="1.0.0")
    model = scripted(READ_PDF, "Done.")
    done = await agent(model, adapter()).ainvoke(ask(), CONFIG)
    assert "Use scripts/run.py." in answers(done)[0]
    events = {(day["version"], day["event"]) for day in yard.usage_of("pdf")}
    assert events == {("1.0.0", "shown"), ("1.0.0", "loaded")}


def test_what_changes_is_loaded_with_the_next_turn_and_told(publish, adapter, yard):
    publish("pdf")
    publish("mail", "Writes polite mails.")
    model = scripted("One.", "Two.", READ_PDF, "Three.", "Four.")
    talk = agent(model, adapter())
    talk.invoke(ask("One"), CONFIG)
    talk.invoke(ask("Two"), CONFIG)
    assert "changed" not in model.system()
    publish("pdf", body="Do it better.\n")
    publish("sheet", "Reads spreadsheets.")
    yard.delete("mail")
    done = talk.invoke(ask("Three"), CONFIG)
    told = model.system().partition("Skills have changed since your last turn.\n")[2]
    assert told.splitlines() == [
        "Added: sheet.",
        "Updated: pdf. What you loaded of it before is out of date: load it again.",
        "Removed: mail. Do not use what you loaded of it before.",
    ]
    assert "Do it better." in answers(done)[-1]
    files = [path for path in sorted(done["files"]) if not path.endswith(".json")]
    assert files == [f"/workspace/skills/{name}" for name in ("pdf/SKILL.md", "pdf/scripts/run.py", *SHEET)]
    talk.invoke(ask("Four"), CONFIG)
    assert "changed" not in model.system()


def test_only_the_skills_that_were_asked_for_are_loaded_with_what_they_require(publish, adapter, yard):
    publish("base", "Knows the basics.")
    publish("mail", "Writes polite mails.")
    skill = publish("pdf", "Fills forms.\nmetadata:\n  requires: base")["id"]
    model = scripted("Done.")
    done = agent(model, adapter([UUID(skill)])).invoke(ask(), CONFIG)
    assert {path.split("/")[3] for path in done["files"]} == {".skillyard.json", "base", "pdf"}
    assert "mails" not in model.system()


def test_a_user_gets_what_they_may_see_and_nothing_is_said_of_the_rest(publish, adapter, yard):
    private = publish("secret-plan", "Plans in secret.")["id"]
    publish("open", "Is for all.", visibility="public")
    kim = yard.people.create_person("kim")["id"]
    model = scripted("Done.", "Done.")
    done = agent(model, adapter(user_id=kim)).invoke(ask(), CONFIG)
    assert {path.split("/")[3] for path in done["files"]} == {".skillyard.json", "open"}
    assert "secret" not in model.system()
    done = agent(model, adapter([private, "open"], user_id=kim)).invoke(ask(), CONFIG)
    assert {path.split("/")[3] for path in done["files"]} == {".skillyard.json", "open"}
    assert "secret" not in model.system()
    assert "Some skills could not be loaded; go on without them." in model.system()


def test_skills_of_several_namespaces_that_share_a_name_are_all_in_the_list(publish, adapter, yard):
    yard.people.create_namespace("team")
    publish("pdf", "Reads PDF forms.", version="1.0.0")
    publish("pdf", "Signs PDF contracts.", version="1.0.0", namespace="team")
    model = scripted("Done.")
    done = agent(model, adapter()).invoke(ask(), CONFIG)
    for description, path in (("Reads PDF forms.", "pdf"), ("Signs PDF contracts.", "team--pdf")):
        assert f"/workspace/skills/{path}/SKILL.md" in done["files"]
        assert description in model.system()
        assert f"/workspace/skills/{path}/SKILL.md" in model.system()


@pytest.mark.parametrize("user", ["nobody", ""])
def test_a_user_who_is_not_there_gets_nothing_and_stops_no_agent(publish, adapter, user, caplog):
    publish("pdf")
    model = scripted("Done.")
    done = agent(model, adapter(user_id=user)).invoke(ask(), CONFIG)
    assert not done.get("files")
    assert "PDF" not in model.system()
    assert f"There is no person {user!r}" in caplog.text


def test_a_database_that_does_not_answer_leaves_the_agent_what_it_has(publish, adapter, sessions, caplog):
    publish("pdf")
    away = []

    def factory():
        return broken() if away else sessions()

    model = scripted("One.", READ_PDF, "Two.")
    talk = agent(model, adapter(db_session_factory=factory))
    talk.invoke(ask("One"), CONFIG)
    away.append(True)
    done = talk.invoke(ask("Two"), CONFIG)
    assert "Do it." in answers(done)[-1]
    assert "- The server cannot reach its database or its store of files. Try again later" in model.system()
    assert "gone" not in model.system()
    assert "gone" in caplog.text


def test_what_a_database_says_of_itself_is_for_the_log_and_not_for_the_model(adapter, caplog):
    def wrong():
        raise ProgrammingError("SELECT people.id FROM people", {}, Exception("wrong"))

    model = scripted("Done.")
    agent(model, adapter(db_session_factory=wrong)).invoke(ask(), CONFIG)
    assert "The database of skills could not be read." in model.system()
    assert "SELECT" not in model.system()
    assert "SELECT" in caplog.text


def test_a_person_may_be_given_as_a_uuid_too(publish, adapter, me):
    publish("pdf")
    model = scripted("Done.")
    agent(model, adapter(user_id=UUID(me))).invoke(ask(), CONFIG)
    assert "PDF" in model.system()


@asynccontextmanager
async def broken():
    raise OperationalError("select", {}, Exception("gone"))
    yield


def test_a_skill_that_is_too_large_for_a_state_is_left_out(publish, adapter, monkeypatch):
    publish("pdf")
    publish("mail", "Writes polite mails.", body="x" * 5_000)
    monkeypatch.setattr(deepagents_adapter, "MAX_BYTES", 4_000)
    model = scripted("Done.")
    done = agent(model, adapter()).invoke(ask(), CONFIG)
    assert {path.split("/")[3] for path in done["files"]} == {".skillyard.json", "pdf"}
    assert "give the agent a sandbox" in model.system()


def test_without_names_the_most_used_come_first(publish, adapter, yard):
    for name in ("alpha", "beta", "gamma"):
        publish(name, f"Does {name}.")
    used = yard.skill("gamma")["id"]
    yard.report_usage([{"skill": used, "event": "loaded"}])
    done = agent(scripted("Done."), adapter(max_skills=2)).invoke(ask(), CONFIG)
    assert {path.split("/")[3] for path in done["files"]} == {".skillyard.json", "alpha", "gamma"}


def test_it_takes_the_place_of_the_middleware_of_a_deep_agent(publish, adapter):
    publish("pdf")
    model = scripted(READ_PDF, "Done.")
    deep = create_deep_agent(model=model, middleware=[adapter()])
    assert "Do it." in answers(deep.invoke(ask()))[0]
    assert model.system(0).count("/workspace/skills/pdf/SKILL.md") == 1


async def test_the_sessions_of_an_open_database_do_as_well(publish, adapter, home, me):
    publish("pdf")
    database = await Database.open(f"sqlite:///{home / 'registry.sqlite'}")
    try:
        model = scripted(READ_PDF, "Done.")
        done = await agent(model, adapter(db_session_factory=database.read)).ainvoke(ask(), CONFIG)
    finally:
        await database.close()
    assert "Do it." in answers(done)[0]


def test_without_sessions_it_says_what_it_needs(me):
    with pytest.raises(TypeError, match="db_session_factory"):
        DatabaseSkillAdapter(me)


def test_an_ordinary_agent_gets_skills_from_whatever_there_is(publish, tmp_path, home, me, sessions, yard):
    publish("pdf")
    blobs = open_blobs(str(home / "blobs"))
    database = {"user_id": me, "db_session_factory": sessions, "blobs": blobs}

    def used(model, **given):
        done = create_agent(model, middleware=enable_skills(**given), checkpointer=InMemorySaver()).invoke(
            ask(), CONFIG
        )
        return answers(done)[0]

    assert "Do it." in used(scripted(READ_PDF, "Done."), **database)
    empty = FilesystemBackend(root_dir=tmp_path / "files", virtual_mode=True)
    assert "Do it." in used(scripted(READ_PDF, "Done."), backend=empty, **database)
    source = YardSource(yard)
    assert "Do it." in used(scripted(calls("load_skill", skill_name="pdf"), "Done."), source=source)
    found = asyncio.run(preload(source, ["pdf", "pdf", "nothing"], empty))
    assert {name: bool(status) for name, status in found.items()} == {"pdf": True, "nothing": False}
    assert "There is no skill 'nothing'" in found["nothing"].reason
    preloaded = used(scripted(READ_PDF, "Done."), backend=empty, user_id="nobody", db_session_factory=broken)
    assert "Do it." in preloaded
    assert asyncio.run(preload(source, ["pdf"], empty))["pdf"].step is Step.UNCHANGED
    source.close()


def test_an_ordinary_agent_without_anything_to_take_skills_from_is_told_so():
    with pytest.raises(UsageError, match="nothing to take skills from"):
        enable_skills(user_id="kim")
    assert not has_skills(StateBackend())
