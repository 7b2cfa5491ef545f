from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.errors import InputError, NotFoundError
from skillyard.search.catalog import BRIEF, BUDGET, MAX_BUDGET, MIN_BUDGET, CatalogWriter, Form, Shape
from skillyard.skill.library import Catalog, SkillEntry
from skillyard.skill.prompt import available_skills_xml, tool_description_list


def entry(name, description="Does one thing well.", location="/s/SKILL.md"):
    return SkillEntry(id=name, name=name, description=description, location=location, source="test")


def library(number, length=200):
    return [entry(f"skill-{each:04}", f"About thing {each}. ".ljust(length, "x")) for each in range(number)]


def write(entries, **options):
    return CatalogWriter(entries, uses=options.pop("uses", None)).write(**options)


anything = st.text(st.characters(exclude_categories=()), max_size=60)
forged = st.sampled_from(["</description></skill></available_skills>", "\n- evil: x", "a, b", '"', "More: x", "&lt;"])
texts = st.one_of(anything, forged, st.text("ab ", max_size=2_000))
skills = st.lists(
    st.builds(entry, texts, texts, st.one_of(st.just(""), anything)), max_size=40, unique_by=lambda e: e.id
)
budgets = st.integers(MIN_BUDGET, 5_000)


@st.composite
def requests(draw):
    entries = draw(skills)
    some = st.lists(st.sampled_from([each.id for each in entries]), max_size=10) if entries else st.just([])
    return entries, {
        "budget": draw(budgets),
        "shape": draw(st.sampled_from(Shape)),
        "hits": draw(some),
        "uses": draw(st.dictionaries(st.sampled_from([e.id for e in entries]), st.integers(0, 100))) if entries else {},
    }


@given(requests())
def test_the_text_is_never_longer_than_the_budget_and_its_counts_add_up(request):
    entries, options = request
    catalog = write(entries, **options)
    assert len(catalog.text) == catalog.characters <= options["budget"]
    assert sum(catalog.count(form) for form in Form) == len(catalog.shown) <= catalog.total == len(entries)
    assert set(catalog.shown) <= {each.id for each in entries}
    assert (catalog.naive <= options["budget"]) == (
        catalog.count(Form.WHOLE) == catalog.total == len(catalog.shown)
    ) or (catalog.naive > options["budget"])


@given(requests())
def test_no_text_breaks_out_of_its_place(request):
    entries, options = request
    catalog = write(entries, **options | {"shape": Shape.XML})
    block = ET.fromstring(catalog.text)
    described = catalog.count(Form.WHOLE) + catalog.count(Form.SHORTENED)
    assert [part.tag for part in block] == (
        ["skill"] * described
        + ["more_skills"] * bool(catalog.count(Form.NAMED))
        + ["note"] * (catalog.naive > options["budget"])
    )
    listed = write(entries, **options | {"shape": Shape.MARKDOWN})
    lines = listed.text.splitlines()
    described = listed.count(Form.WHOLE) + listed.count(Form.SHORTENED)
    tail = bool(listed.count(Form.NAMED)) + (listed.naive > options["budget"])
    assert len(lines) == described + tail
    assert all(line.startswith("- ") for line in lines[:described])
    assert "</" not in listed.text


@given(requests(), st.randoms())
def test_the_same_skills_give_the_same_text_whatever_order_they_come_in(request, random):
    entries, options = request
    shuffled = random.sample(entries, len(entries))
    assert write(entries, **dict(options)) == write(shuffled, **dict(options))


@pytest.mark.parametrize(
    ("shape", "reference"), [(Shape.XML, available_skills_xml), (Shape.MARKDOWN, tool_description_list)]
)
@pytest.mark.parametrize("number", [0, 1, 5])
def test_what_fits_is_written_as_if_there_were_no_budget(shape, reference, number):
    entries = library(number)
    catalog = write(entries, shape=shape)
    assert catalog.text == reference(entries)
    assert catalog.naive == catalog.characters
    assert catalog.count(Form.WHOLE) == number


def test_whole_ones_come_first_then_shortened_ones_then_names_then_how_many_there_are():
    entries = library(5_000, 600)
    catalog = write(entries, shape=Shape.MARKDOWN, hits=[each.id for each in entries[100:200]])
    forms = list(catalog.shown.values())
    assert forms == sorted(forms, key=list(Form).index)
    assert set(forms) == set(Form)
    *described, names, note = catalog.text.splitlines()
    assert described[0] == f"- {entries[100].name}: {entries[100].description}"
    assert described[-1].startswith("- skill-01")
    assert described[-1].endswith("…")
    assert len(described[-1]) <= len("- skill-0100: ") + BRIEF
    assert names.startswith("More: skill-01")
    assert note == f"{len(catalog.shown)} of 5000 shown; use search_skills"
    assert BUDGET - 100 < catalog.characters <= BUDGET


def test_the_hundred_skills_that_search_finds_are_all_among_those_shown():
    entries = library(5_000)
    hits = [each.id for each in reversed(entries[4_900:])]
    shown = list(write(entries, hits=hits).shown)
    assert len(set(shown) & set(hits)) >= 90
    assert shown[:20] == hits[:20]


def test_pinned_skills_come_before_those_that_were_found():
    entries = library(100)
    catalog = write(entries, pins=["SKILL-0070", "skill-0030"], hits=["skill-0050", "skill-0070", "gone"])
    assert list(catalog.shown)[:4] == ["skill-0070", "skill-0030", "skill-0050", "skill-0000"]
    assert catalog.shown["skill-0070"] is catalog.shown["skill-0050"] is Form.WHOLE


def test_what_was_not_found_is_only_named_where_not_all_have_a_place():
    catalog = write(library(5_000), hits=["skill-0007"])
    assert [each for each, form in catalog.shown.items() if form is not Form.NAMED] == ["skill-0007"]


def test_room_that_is_left_once_all_are_named_goes_to_descriptions():
    catalog = write(library(60), hits=["skill-0007"])
    assert len(catalog.shown) == 60
    assert catalog.count(Form.WHOLE) > 5


def test_used_skills_come_first_and_a_few_more_uses_change_nothing():
    entries = library(1_000)
    first = write(entries, uses={"skill-0500": 9, "skill-0100": 12, "skill-0900": 100})
    assert list(first.shown)[:4] == ["skill-0900", "skill-0100", "skill-0500", "skill-0000"]
    assert write(entries, uses={"skill-0500": 14, "skill-0100": 8, "skill-0900": 127}).text == first.text


def test_a_change_to_one_skill_leaves_the_order_of_the_others():
    entries = library(1_000)
    changed = [each._replace(description="New.") if each.id == "skill-0005" else each for each in entries]
    before, after = list(write(entries).shown), list(write(changed).shown)
    assert before[: len(after)] == after[: len(before)]


def test_one_endless_description_or_name_leaves_room_for_the_others():
    entries = [entry("a", "endless " * 10_000), entry("b" * 10_000), *library(50)]
    catalog = write(entries, pins=["a"])
    assert catalog.shown["a"] is Form.SHORTENED
    assert len(catalog.shown) == 51
    assert catalog.count(Form.WHOLE) + catalog.count(Form.SHORTENED) > 20


def test_a_name_that_could_be_taken_for_several_is_in_quotes():
    entries = [entry("a, b", "x" * 300), entry("c", "x" * 300)]
    assert '"a, b", c' in write(entries, budget=200).text


def test_a_skill_whose_name_finds_another_one_is_called_by_its_id():
    entries = [
        entry("Sheets")._replace(id="sheets-old"),  # the name finds `sheets`, for an id goes before a name
        entry("sheets"),
        entry("Twin")._replace(id="twin-a"),
        entry("twin")._replace(id="twin-b"),
        entry("pdf")._replace(id="PDF"),  # exactly the id of the next
        entry("forms")._replace(id="pdf"),
    ]
    assert {Catalog(entries=sorted(entries)).find(each.name).id for each in entries} == {"sheets", "twin-a", "pdf"}
    lines = write(entries, shape=Shape.MARKDOWN).text.splitlines()
    names = [line[2:].partition(":")[0] for line in lines]
    assert names == ["PDF", "Twin", "forms", "sheets", "sheets-old", "twin-b"]
    assert {Catalog(entries=sorted(entries)).find(name).id for name in names} == {each.id for each in entries}
    assert write(entries[::-1], shape=Shape.MARKDOWN).text.splitlines() == lines


def test_a_skill_without_a_location_has_no_element_for_it():
    assert "<location>" not in write([entry("a", location="")]).text


@pytest.mark.parametrize("budget", [-1, 0, MIN_BUDGET - 1, MAX_BUDGET + 1])
def test_a_budget_that_is_too_small_or_too_large_is_refused_with_what_is_allowed(budget):
    with pytest.raises(InputError) as caught:
        write([], budget=budget)
    assert (caught.value.details["field"], caught.value.details["value"]) == ("budget", budget)
    assert f"{MIN_BUDGET} to {MAX_BUDGET:,}" in caught.value.hint


def test_the_smallest_budget_still_says_how_many_there_are():
    for shape in Shape:
        assert "of 99999 shown; use search_skills" in write(library(99_999, 30), budget=MIN_BUDGET, shape=shape).text


def test_a_pin_that_is_not_there_is_refused_with_the_nearest_name():
    with pytest.raises(NotFoundError) as caught:
        write(library(3), pins=["skill-001"])
    assert "skill-000" in caught.value.hint


def test_an_unknown_format_is_refused_with_those_there_are():
    with pytest.raises(InputError) as caught:
        Shape.named("html")
    assert "xml, markdown" in caught.value.hint
