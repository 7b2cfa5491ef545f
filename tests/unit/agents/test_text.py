from skillyard.agents.text import names_within


def test_all_names_are_listed_where_they_have_room():
    assert names_within(["a", "b,c"], 2, 100) == 'a, "b,c"'


def test_what_has_no_room_is_counted():
    names = [f"skill-{number}" for number in range(100)]
    text = names_within(names, 250, 80)
    assert len(text) <= 80
    assert text == "skill-0, skill-1, skill-2, skill-3 (4 of 250 shown; use search_skills)"


def test_where_nothing_has_room_there_is_only_the_count():
    assert names_within(["x" * 100], 1, 50) == "(0 of 1 shown; use search_skills)"
