"""An agent with the skills of a yard: it sees what its person may see, and what it did comes back as evidence."""

import pytest

pytest.importorskip("langchain")

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from tests.scripted_chat import calls, scripted

from skillyard import Skillyard
from skillyard.agents.langchain_middleware import SkillyardMiddleware
from skillyard.agents.langchain_skill_tool import SkillToolMiddleware
from skillyard.agents.outcomes import Verdict, reported_to
from skillyard.agents.yard_source import YardSource

STEPS = {"kind": "code", "variables": {}, "steps": [{"type": "shell", "cmd": "echo hello"}], "postconditions": []}
CONFIG = {"configurable": {"thread_id": "thread-1"}}


@pytest.fixture(scope="module")
def home(tmp_path_factory, new_home):
    return new_home(tmp_path_factory.mktemp("home") / "yard")


@pytest.fixture(scope="module")
def yard(home):
    with Skillyard(home=home) as client:
        yield client


@pytest.fixture
def publish(yard, tmp_path):
    def publish(name, description, **more):
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {description}\n---\n\nDo it.\n")
        return yard.publish(folder, **more)

    return publish


def agent(model, skills):
    return create_agent(model, middleware=[skills], checkpointer=InMemorySaver())


def ask(text="Fill the form."):
    return {"messages": [HumanMessage(text)]}


def answers(state):
    return [message.text for message in state["messages"] if isinstance(message, ToolMessage)]


def counted(yard, name):
    return {(day["version"], day["agent"], day["event"]): day["count"] for day in yard.usage_of(name)}


def test_what_an_agent_did_with_a_skill_is_counted_with_version_and_outcome(yard, publish):
    publish("forms", "Reads and fills PDF forms.", version="1.0.0")
    source = YardSource(yard)
    skills = SkillyardMiddleware(
        source,
        agent="writer",
        judge=lambda state: Verdict(succeeded="Done" in state["messages"][-1].text, detail="said so"),
        report=reported_to(yard, source, agent="writer"),
    )
    model = scripted(calls("load_skill", skill_name="forms"), "Done.", "Two.")
    talk = agent(model, skills)
    assert "Do it." in answers(talk.invoke(ask(), CONFIG))[0]
    publish("sheet", "Reads spreadsheets.")
    publish("forms", "Reads and fills PDF forms.", version="1.1.0", notes="Better")
    talk.invoke(ask("Two"), CONFIG)
    mine = yard.me()["name"]
    assert f"Added: {mine}/sheet." in model.system()
    assert f"Updated: {mine}/forms. What you loaded" in model.system()
    skills.close()
    source.close()
    shown, loaded, went = ("1.0.0", "writer", "shown"), ("1.0.0", "writer", "loaded"), ("1.0.0", "writer", "succeeded")
    assert counted(yard, "forms") == {shown: 1, loaded: 1, went: 1}


@pytest.mark.parametrize(("middleware", "tool"), [(SkillyardMiddleware, "load_skill"), (SkillToolMiddleware, "skill")])
def test_an_outcome_counts_for_the_version_that_was_loaded_though_there_is_another_now(yard, publish, middleware, tool):
    name = f"letters-{tool.replace('_', '-')}"
    publish(name, "Writes letters.", version="1.0.0")
    source = YardSource(yard)
    skills = middleware(source, judge=lambda _: True)
    model = scripted(calls(tool, **{"skill" if tool == "skill" else "skill_name": name}), "Done.")
    model.on_call = lambda call: call == 2 and publish(name, "Writes letters.", version="2.0.0", notes="Other")
    agent(model, skills).invoke(ask("Write a letter."), CONFIG)
    skills.close()
    source.close()
    assert ("1.0.0", "", "succeeded") in counted(yard, name)
    assert ("2.0.0", "", "succeeded") not in counted(yard, name)


def test_an_outcome_is_a_run_of_the_release_that_was_loaded(yard):
    sandbox = yard.sandboxes.create()["id"]
    execution = yard.sandboxes.shell(sandbox, "echo hello")["execution_id"]
    ref = yard.releases.payloads.create(STEPS, kind="code")["payload_ref"]
    made = yard.releases.create_candidate(
        skill_key="greet", source_execution_ids=[execution], payload_ref=ref, summary="Greets people"
    )
    yard.releases.evaluate(made["id"], passed=True)
    release = yard.releases.promote(made["id"], stage="stable")
    source = YardSource(yard)
    skills = SkillyardMiddleware(source, judge=lambda _: False, report=reported_to(yard, source))
    agent(scripted(calls("load_skill", skill_name="greet"), "No."), skills).invoke(ask("Greet Ada."), CONFIG)
    runs = yard.releases.runs(release_id=release["id"])["items"]
    assert [(run["verdict"], run["origin"]) for run in runs] == [("TASK_FAIL", "told")]


def test_skills_of_others_are_nowhere_in_what_an_agent_is_told(home, yard, publish):
    publish("hidden-plan", "Plans in secret.")
    publish("open-plan", "Plans in the open.", visibility="public")
    yard.people.create_person("kim")
    token = yard.people.create_token("kim's", scope="read", person="kim")["secret"]
    with Skillyard(home=home, token=token) as kim:
        source = YardSource(kim)
        skills = SkillyardMiddleware(source)
        model = scripted(
            calls("load_skill", skill_name="hidden-plan"), calls("search_skills", query="plans in secret"), "Done."
        )
        done = agent(model, skills).invoke(ask("Make plans in secret."), CONFIG)
        skills.close()
        source.close()
    said = "\n".join([model.system(), *answers(done)]).replace("There is no skill 'hidden-plan'", "")
    assert "open-plan" in said
    assert "hidden-plan" not in said
    assert "Plans in secret" not in said


def test_another_process_tells_a_conversation_which_skills_were_updated(home, yard, publish):
    publish("going", "Goes on.", version="1.0.0")
    publish("staying", "Stays.", version="1.0.0")
    saver = InMemorySaver()
    model = scripted("Yes.", "Yes.")
    first = SkillyardMiddleware(YardSource(yard))
    create_agent(model, middleware=[first], checkpointer=saver).invoke(ask(), CONFIG)
    publish("going", "Goes on and on.", version="1.1.0")
    publish("coming", "Comes.", version="1.0.0")
    with Skillyard(home=home) as elsewhere:
        second = SkillyardMiddleware(YardSource(elsewhere))
        create_agent(model, middleware=[second], checkpointer=saver).invoke(ask(), CONFIG)
    told = model.system().partition("Skills have changed since your last turn.\n")[2].splitlines()
    me = yard.skill("going")["full_name"].partition("/")[0]
    assert told == [
        f"Added: {me}/coming.",
        f"Updated: {me}/going. What you loaded of it before is out of date: load it again.",
    ]
