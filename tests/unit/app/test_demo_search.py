from skillyard.app.demo_search import RIGHT, demo_entries, show_search
from skillyard.search.catalog import BUDGET, Form


def test_the_request_in_korean_finds_the_right_skill_first():
    show = show_search()
    assert show.found[0].id == RIGHT
    assert show.catalog.shown[RIGHT] is Form.WHOLE


def test_the_catalog_shrinks_from_the_whole_list_to_the_budget():
    show = show_search()
    assert show.skills == show.catalog.total > 1_000
    assert show.catalog.naive > 300_000
    assert show.catalog.characters <= BUDGET


def test_no_two_of_the_skills_have_the_same_name():
    entries = demo_entries()
    assert len({entry.id for entry in entries}) == len(entries)
