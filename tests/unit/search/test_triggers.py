from hypothesis import given
from hypothesis import strategies as st

from skillyard.search.catalog import Form
from skillyard.search.trigger_file import TriggerFile, TriggerPrompt
from skillyard.search.triggers import Surfaced, TriggerReport, judge, resolve
from skillyard.skill.library import Catalog, SkillEntry


def prompt(*should, no=(), line=1):
    return TriggerPrompt(line=line, text=f"prompt {line}", should=should, should_not=tuple(no))


def surfaced(*hits):
    return Surfaced(hits=hits, shown=dict.fromkeys(hits[:3], Form.WHOLE))


def report(*cases, top=5):
    judged = tuple(judge(asked, surfaced(*hits), top=top) for asked, hits in cases)
    return TriggerReport(prompts=judged, findings=(), top=top)


def test_what_should_be_found_must_be_among_the_first_hits():
    judged = judge(prompt("a", "b", "c"), surfaced("x", "a", "y", "b"), top=3)
    assert [(each.skill, each.rank, each.shown, each.held) for each in judged.outcomes] == [
        ("a", 2, Form.WHOLE, True),
        ("b", 4, None, False),
        ("c", None, None, False),
    ]
    assert judged.top == ("x", "a", "y")
    assert not judged.held


def test_what_should_not_be_found_must_not_come_first():
    assert not judge(prompt(no=["a"]), surfaced("a", "b")).held
    assert judge(prompt(no=["a"]), surfaced("b", "a")).held
    assert judge(prompt(no=["a"]), surfaced()).held


def test_where_nothing_should_be_found_any_hit_is_wrong():
    assert judge(prompt(), surfaced()).held
    assert not judge(prompt(), surfaced("a")).held
    wrong = report((prompt("a"), ["a"]), (prompt(line=2), ["a"]))
    assert [each.precision for each in wrong.skills] == [0.5]


def test_each_skill_is_scored_over_the_prompts_that_say_something_of_it():
    told = report(
        (prompt("a"), ["a", "b"]),
        (prompt("a", line=2), ["b", "a"]),
        (prompt("a", line=3), []),
        (prompt(no=["a"], line=4), ["a"]),
        (prompt(no=["b"], line=5), ["x"]),
    )
    a, b = (each.as_dict() for each in told.skills)
    assert a == {
        "skill": "a",
        "should": 3,
        "should_not": 1,
        "hit_at_1": 0.3333,
        "hit_at_5": 0.6667,
        "recall": 0.6667,
        "precision": 0.5,
    }
    assert (b["should"], b["recall"], b["precision"]) == (0, None, 0.0)
    assert told.as_dict()["summary"] == {
        "prompts": 5,
        "expectations": 5,
        "held": 3,
        "share": 0.6,
        "top": 5,
        "hit_at_1": 0.3333,
        "hit_at_5": 0.6667,
        "in_catalog": 0.6667,
    }


def test_the_confusion_tells_what_came_first_instead_the_most_frequent_first():
    told = report(
        (prompt("b"), ["x"]),
        (prompt("a", line=2), ["x", "a"]),
        (prompt("a", line=3), ["x"]),
        (prompt("a", line=4), []),
        (prompt("a", "x", line=5), ["x", "a"]),
    )
    assert [each.as_dict() for each in told.confusions] == [
        {"expected": "a", "instead": "x", "count": 2},
        {"expected": "a", "instead": None, "count": 1},
        {"expected": "b", "instead": "x", "count": 1},
    ]


def test_names_become_ids_and_one_that_is_not_there_is_a_finding():
    catalog = Catalog(entries=[SkillEntry("pdf-forms", "PDF Forms", "d", "l", "s")])
    read = TriggerFile(
        (
            prompt("pdf forms", "PDF-FORMS"),
            prompt("pdf-form", line=2),
            prompt(line=3),
            prompt("pdf-forms", "no", line=4),
        ),
        (),
    )
    found = resolve(read, catalog, file="p")
    assert [(each.line, each.should) for each in found.prompts] == [(1, ("pdf-forms",)), (3, ()), (4, ("pdf-forms",))]
    assert [(each.code, each.line) for each in found.findings] == [("unknown-skill", 2), ("unknown-skill", 4)]
    assert "pdf-forms" in found.findings[0].fix


skills = st.sampled_from("abcd")


@given(st.lists(st.tuples(st.lists(skills, unique=True), st.lists(skills, unique=True)), max_size=8))
def test_the_counts_of_a_report_agree(cases):
    told = report(*((prompt(*should, line=line), hits) for line, (should, hits) in enumerate(cases, start=1)))
    assert 0 <= told.share <= 1
    assert sum(each.should for each in told.skills) == sum(len(should) for should, _ in cases)
    missed = sum(len(should) for should, hits in cases if should and (not hits or hits[0] not in should))
    assert sum(each.count for each in told.confusions) == missed
    for each in told.skills:
        assert each.first <= each.hit_at_5 <= each.should
