"""What an agent is told about its skills stays within its budget and its lines, whatever the skills say."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.agents.changes import SkillChanges
from skillyard.agents.skill_prompt import SkillPrompt, known_of, notice_of
from skillyard.errors import InputError
from skillyard.search.catalog import CatalogWriter
from skillyard.skill.library import SkillEntry


class Skills:
    """A source of what it is given."""

    label = "skills"
    lasting = False

    def __init__(self, /, **skills):
        self.skills = skills
        self.number = 1
        self.written = 0

    def change(self, /, **skills):
        self.skills = skills
        self.number += 1

    def stamp(self):
        return str(self.number)

    def snapshot(self):
        return dict(self.skills)

    def catalog_text(self, query="", *, budget, pins=(), shape):
        self.written += 1
        entries = [SkillEntry(name, name, text, "", "") for name, text in self.skills.items()]
        return CatalogWriter(entries).write(
            budget=budget, shape=shape, hits=[name for name in self.skills if name in query]
        )


def test_a_list_is_written_once_for_one_request_until_something_changes():
    source = Skills(pdf="Reads PDF.", mail="Writes mails.")
    prompt = SkillPrompt(source)
    first = prompt.turn("pdf", None)
    assert (first.new, first.known["whole"], bool(first.changes)) == (("pdf", "mail"), True, False)
    again = prompt.turn("pdf", first.known)
    assert (again.section, again.known, again.new, source.written) == (first.section, first.known, (), 1)
    source.change(pdf="Reads PDF.", sheet="Reads sheets.")
    third = prompt.turn("pdf", again.known)
    assert third.changes == SkillChanges(added=("sheet",), removed=("mail",))
    assert third.new == ("sheet",)
    assert source.written == 2


def test_what_was_told_earlier_in_a_turn_is_told_again():
    source = Skills(pdf="Reads PDF.")
    prompt = SkillPrompt(source)
    known = prompt.turn("x", None).known
    source.change(pdf="Reads PDF.", sheet="Reads sheets.")
    second = prompt.turn("x", known)
    third = prompt.turn("x", second.known, second.changes)
    assert third.changes == second.changes
    assert "Added: sheet." in third.section
    assert "changed" not in prompt.turn("y", third.known).section


def test_what_is_kept_with_a_conversation_is_json_and_small():
    source = Skills(**{f"skill-{number}": "Does it." for number in range(3_000)})
    known = SkillPrompt(source, budget=4_000).turn("x", None).known
    assert known_of(json.loads(json.dumps(known))) == known
    assert len(known["states"]) < 500
    assert not known["whole"]


@pytest.mark.parametrize(
    "kept", [None, {}, {"stamp": "1"}, {"look": "", "stamp": "", "states": {}, "whole": True, "x": 1}]
)
def test_what_was_kept_by_another_version_is_forgotten(kept):
    assert known_of(kept) is None


def test_a_budget_that_is_too_small_is_refused_with_what_it_takes():
    with pytest.raises(InputError, match="does not fit into 300 characters") as refused:
        SkillPrompt(Skills(), budget=300)
    SkillPrompt(Skills(), budget=refused.value.details["limit"])


def test_very_many_changes_leave_room_for_the_list():
    source = Skills(**{f"old-{number:04}": "Did it." for number in range(2_000)})
    prompt = SkillPrompt(source, budget=2_000)
    known = prompt.turn("x", None).known
    source.change(**{f"new-{number:04}": "Does it." for number in range(2_000)})
    told = prompt.turn("new-0007", known)
    assert "- new-0007: Does it." in told.section
    assert "Added: new-0000" in told.section
    assert len(told.section) <= 2_000


@given(
    st.dictionaries(st.text(min_size=1, max_size=60), st.text(max_size=300), max_size=30),
    st.dictionaries(st.text(min_size=1, max_size=60), st.text(max_size=300), max_size=30),
    st.integers(700, 3_000),
)
def test_nothing_that_skills_say_leaves_its_place(before, after, budget):
    source = Skills(**before)
    prompt = SkillPrompt(source, budget=budget)
    known = prompt.turn("", None).known
    source.change(**after)
    section = prompt.turn("", known).section
    assert len(section) <= budget
    assert section.count("</available_skills>") == section.count("<available_skills>") == bool(after)
    head, _, _ = section.partition("<available_skills>\n")
    assert "\n- " not in head


NAMES = st.lists(st.text(min_size=1, max_size=60), max_size=40)


@given(NAMES, NAMES, NAMES, st.integers(0, 1_500), st.text(max_size=200))
def test_all_of_it_stays_within_every_budget_that_is_accepted(gone, changed, came, more, load):
    with pytest.raises(InputError) as refused:
        SkillPrompt(Skills(), budget=200, load=load)
    budget = refused.value.details["limit"] + more
    source = Skills(**dict.fromkeys([*gone, *changed], "Before."))
    prompt = SkillPrompt(source, budget=budget, load=load)
    known = prompt.turn("", None).known
    source.change(**dict.fromkeys([*changed, *came], "After."))
    assert len(prompt.turn("", known).section) <= budget


def test_no_changes_are_no_notice():
    assert notice_of(SkillChanges()) == ""
