from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.errors import InputError, LimitError, SkillyardError
from skillyard.identity.agent_file import MAX_ATTACHED, Attached, Declaration, DeclaredAgent, read_agents_file
from skillyard.identity.agent_file import read_declaration as read

TOML = """
[agents.support]
name = "Support"
role = "Answers customers"
goal = "Fast refunds"
skills = ["acme/refunds@1.2", "triage"]
tags = ["support"]

[agents."도우미"]

[everyone]
skills = ["acme/tone"]
"""


def test_a_file_declares_agents_and_what_everyone_has():
    assert read_agents_file(TOML) == Declaration(
        agents=(
            DeclaredAgent(
                id="support",
                name="Support",
                role="Answers customers",
                goal="Fast refunds",
                attached=Attached(skills=("acme/refunds@1.2", "triage"), tags=("support",)),
            ),
            DeclaredAgent(id="도우미"),
        ),
        everyone=Attached(skills=("acme/tone",)),
    )


def test_json_says_the_same_as_toml():
    text = '{"agents": {"support": {"skills": ["triage"]}}}'
    assert read_agents_file(text, filename="a.JSON") == read_agents_file('[agents.support]\nskills = ["triage"]')


def test_a_declaration_reads_back_from_its_plain_values():
    declared = read_agents_file(TOML)
    assert read(declared.as_dict()) == declared
    assert read(Declaration().as_dict()) == Declaration()


def test_agents_may_be_a_list_with_ids():
    assert read({"agents": [{"id": "a", "tags": []}]}).agents == (DeclaredAgent(id="a", attached=Attached()),)


def test_no_skills_is_not_the_same_as_nothing_said_of_skills():
    declared = read({"agents": {"empty": {"skills": []}, "silent": {}}})
    assert [agent.attached for agent in declared.agents] == [Attached(), None]
    assert read({"everyone": {}}).everyone == Attached()
    assert read({}).everyone is None


def test_a_skill_named_twice_counts_once():
    assert read({"everyone": {"skills": ["a", "a"]}}).everyone == Attached(skills=("a",))


@pytest.mark.parametrize(
    ("filename", "text", "said"),
    [("agents.toml", "[agents\n", "line 1"), ("agents.json", '{"agents": \n}', "line 2")],
)
def test_what_cannot_be_read_is_named_with_its_line(filename, text, said):
    with pytest.raises(InputError, match=said):
        read_agents_file(text, filename=filename)


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ([], "the declaration"),
        ({"agent": {}}, "the declaration.agent"),
        ({"agents": "support"}, "agents"),
        ({"agents": {"support": "x"}}, "agents.support"),
        ({"agents": {"support": {"skill": []}}}, "agents.support.skill"),
        ({"agents": {"support": {"name": 1}}}, "agents.support.name"),
        ({"agents": {"support": {"skills": "triage"}}}, "agents.support.skills"),
        ({"agents": {"support": {"tags": ["a", 2]}}}, "agents.support.tags[1]"),
        ({"agents": [{"id": "a"}, {}]}, "agents[1].id"),
        ({"agents": [{"id": "a"}, {"id": "a"}]}, "agents"),
        ({"everyone": {"name": "x"}}, "everyone.name"),
    ],
)
def test_what_is_wrong_is_named_by_its_field(values, field):
    with pytest.raises(InputError) as caught:
        read(values)
    assert caught.value.details["field"] == field
    assert caught.value.hint


@pytest.mark.parametrize("agent_id", ["", "a/b", "a b", "..", "x" * 129, "a\u200bb", "a\nb"])
def test_an_id_that_no_address_could_hold_is_refused(agent_id):
    with pytest.raises(InputError, match="cannot be the id"):
        read({"agents": {agent_id: {}}})


def test_too_many_skills_are_refused():
    with pytest.raises(LimitError, match="at most 1,000"):
        read({"everyone": {"skills": [str(number) for number in range(MAX_ATTACHED + 1)]}})


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda v: (
            st.lists(v)
            | st.dictionaries(st.sampled_from(["agents", "everyone", "id", "skills", "tags", "name", "x"]), v)
        ),
    )
)
def test_nothing_but_typed_errors_come_of_odd_values(values):
    with suppress(SkillyardError):
        assert isinstance(read(values), Declaration)


def test_a_file_nested_too_deeply_is_refused():
    with pytest.raises(InputError):
        read_agents_file("[" * 100_000, filename="agents.json")
    with pytest.raises(InputError):
        read_agents_file("a = " + "[" * 100_000)
