import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.search.similar import NEAR, Kind, groups, like, sketch_of

WORDS = [f"word{number}" for number in range(2_000)]


def article(seed, length=400):
    return random.Random(seed).choices(WORDS, k=length)


def edited(words, edits):
    changed = list(words)
    for place in random.Random(edits).sample(range(len(words)), edits):
        changed[place] = f"changed{place}"
    return changed


class Shelf:
    """Skills to compare: bodies, names and files by key."""

    def __init__(self):
        self.sketches, self.bodies, self.other_files = [], {}, {}
        self.looked_at = []

    def add(self, key, body, *, name=None, description=None, fields=None, files=""):
        text = body if isinstance(body, str) else " ".join(body)
        name = name or key
        self.bodies[key], self.other_files[key] = text, files
        said = f"Does what {name} does." if description is None else description
        self.sketches.append(sketch_of(key, name=name, description=said, fields=fields or {}, body=text))
        return self

    def body(self, key):
        self.looked_at.append(key)
        return self.bodies[key]

    def files(self, key):
        return self.other_files[key]

    def groups(self, **given):
        return groups(self.sketches, self, **given)

    def told(self, **given):
        return [
            (group.kind.value, group.first, *(other.key for other in group.others)) for group in self.groups(**given)
        ]

    def like(self, key, **given):
        one = next(sketch for sketch in self.sketches if sketch.key == key)
        return [(found.key, found.kind.value, found.differs) for found in like(one, self.sketches, self, **given)]


@pytest.fixture
def shelf():
    return Shelf()


def test_the_same_skill_twice_is_exact(shelf):
    shelf.add("one", article(1), name="pdf").add("two", article(1), name="pdf").add("three", article(2))
    assert shelf.told() == [("exact", "one", "two")]
    assert shelf.groups()[0].others[0].differs == ()
    assert shelf.groups()[0].others[0].similarity == 1.0


def test_a_copy_under_another_name_is_exact_and_says_so(shelf):
    shelf.add("one", article(1), name="pdf", description="d").add("two", article(1), name="acrobat", description="d")
    (group,) = shelf.groups()
    assert (group.kind, group.others[0].differs) == (Kind.EXACT, ("name",))


@pytest.mark.parametrize(
    ("change", "differs"),
    [
        ({"description": "Does it better."}, ("description",)),
        ({"fields": {"license": "MIT"}}, ("fields",)),
        ({"files": "others"}, ("files",)),
    ],
)
def test_what_differs_beside_the_instructions_makes_a_variant(shelf, change, differs):
    shelf.add("one", article(1), name="pdf").add("two", article(1), name="pdf", **change)
    (group,) = shelf.groups()
    assert (group.kind, group.others[0].similarity, group.others[0].differs) == (Kind.NEAR, 1.0, differs)


def test_line_ends_and_trailing_blanks_are_no_difference(shelf):
    text = "\n".join(article(1))
    shelf.add("one", text, name="pdf").add("two", text.replace("\n", "  \r\n") + "\n\n", name="pdf")
    assert shelf.told() == [("exact", "one", "two")]


def test_small_edits_make_variants(shelf):
    shelf.add("one", article(1), name="pdf").add("two", edited(article(1), 12), name="pdf")
    (group,) = shelf.groups()
    assert (group.kind, group.others[0].differs) == (Kind.NEAR, ("body",))
    assert 0.8 < group.others[0].similarity < 1


def test_a_variant_with_a_longer_name_is_still_one(shelf):
    shelf.add("monitor", article(1)).add("acme-monitor", [*article(1), "acme"])
    assert shelf.told() == [("near", "monitor", "acme-monitor")]


def test_unrelated_skills_are_not_told(shelf):
    for seed in range(30):
        shelf.add(f"skill-{seed}", article(seed))
    assert shelf.told() == []


def templated(shelf, *names):
    for name in names:
        shelf.add(name, [*article(1), *(f"use {name} now").split()])


def test_skills_of_one_template_are_told_apart_from_variants(shelf):
    templated(shelf, "beamer", "botbaba", "calendly")
    assert shelf.told() == [("template", "beamer", "botbaba", "calendly")]


def test_a_copy_among_the_skills_of_a_template_is_found(shelf):
    templated(shelf, *(f"tool{number}" for number in range(100)))
    shelf.add("again", shelf.bodies["tool7"], name="tool7", description="Does what tool7 does.")
    shelf.add("edited", f"{shelf.bodies['tool8']} and more", name="tool8")
    told = shelf.told()
    assert told[:2] == [("exact", "tool7", "again"), ("near", "tool8", "edited")]
    assert [(kind, len(members)) for kind, *members in told[2:]] == [("template", 100)]


def test_a_new_title_does_not_hide_a_copy_that_says_the_same_of_itself(shelf):
    shelf.add("code-reviewer", ["code", "reviewer", *article(1)], description="Reviews code.")
    shelf.add("my-bot", ["my", "bot", *article(1)], description="Reviews code.")
    assert shelf.told() == [("near", "code-reviewer", "my-bot")]


def test_one_name_for_different_skills_is_told(shelf):
    shelf.add("one", article(1), name="pdf").add("two", article(2), name="PDF").add("three", article(3))
    (group,) = shelf.groups()
    assert (group.kind, group.first, group.others[0].key) == (Kind.SAME_NAME, "one", "two")
    assert group.others[0].similarity < 0.2


def test_of_variants_only_one_is_named_among_those_of_one_name(shelf):
    shelf.add("a", article(1), name="pdf").add("b", article(2), name="pdf").add("c", article(2), name="pdf")
    assert shelf.told() == [("exact", "b", "c"), ("same-name", "a", "b")]


def test_a_chain_of_edits_is_one_group(shelf):
    words = article(1)
    for step in range(4):
        shelf.add(f"v{step}", words, name="pdf")
        words = edited(words, 14 + step)
    (group,) = shelf.groups()
    assert (group.kind, len(group.others)) == (Kind.NEAR, 3)
    assert group.others[-1].similarity < NEAR


def test_a_short_body_is_compared_together_with_the_description(shelf):
    shelf.add("one", "# It\n", description="Paints a bikeshed in any colour.")
    shelf.add("two", "# It\n", description="Reads the tables of a PDF file into cells.")
    assert shelf.told() == []
    shelf.add("three", "# It\n", description="Paints a bikeshed in any colour.")
    assert shelf.told() == [("exact", "one", "three")]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("先读取文件，再整理表格，最后生成报告并检查结果是否正确。" * 12, "请先确认需求。"),
        ("파일을 먼저 읽고 표를 정리한 다음 보고서를 만들고 결과를 확인합니다. " * 12, "먼저 요구를 확인합니다."),
    ],
)
def test_texts_without_spaces_are_compared_too(shelf, one, other):
    shelf.add("one", one, name="表").add("two", f"{other}{one}", name="表").add("three", other * 40, name="别")
    assert shelf.told() == [("near", "one", "two")]


def test_what_is_like_one_skill_is_told_by_kind_and_likeness(shelf):
    shelf.add("one", article(1), name="pdf").add("same", article(1), name="pdf", description="Does what pdf does.")
    shelf.add("other", article(5)).add("namesake", article(6), name="pdf")
    shelf.add("far", edited(article(1), 14), name="pdf").add("close", edited(article(1), 4), name="pdf")
    assert shelf.like("one") == [
        ("same", "exact", ()),
        ("close", "near", ("body",)),
        ("far", "near", ("body",)),
        ("namesake", "same-name", ("body",)),
    ]
    assert shelf.like("other") == []


def test_the_threshold_decides_what_is_near(shelf):
    shelf.add("one", article(1)).add("one-2", edited(article(1), 40))
    assert shelf.told(threshold=0.9) == []
    assert shelf.told(threshold=0.5) == [("near", "one", "one-2")]


def test_the_order_of_groups_is_by_kind_then_size_then_place(shelf):
    shelf.add("n1", article(1), name="n").add("n2", article(2), name="n")
    shelf.add("p", article(3)).add("p2", edited(article(3), 5), name="p")
    shelf.add("x", article(4)).add("x2", article(4), name="x")
    for number in range(3):
        shelf.add(f"y{number}", article(5), name="y")
    kinds = [group.kind for group in shelf.groups()]
    assert kinds == [Kind.EXACT, Kind.EXACT, Kind.NEAR, Kind.SAME_NAME]
    assert [group.first for group in shelf.groups()] == ["y0", "x", "p", "n1"]
    assert shelf.groups() == shelf.groups()


def test_nothing_and_one_are_like_nothing(shelf):
    assert shelf.groups() == []
    assert shelf.add("one", "").groups() == []
    assert shelf.add("two", "").told() == []


def test_hardly_any_text_is_read_again(shelf):
    for seed in range(200):
        shelf.add(f"skill-{seed}", article(seed))
    shelf.add("copy", article(7)).add("skill-7b", edited(article(7), 5))
    shelf.groups()
    assert set(shelf.looked_at) <= {"skill-7", "copy", "skill-7b"}


def test_thousands_are_grouped_without_comparing_all_with_all(shelf):
    for number in range(4_000):
        shelf.add(f"skill-{number}", article(number // 2, 60))
    started = time.process_time()
    assert len(shelf.groups()) == 2_000
    assert time.process_time() - started < 4


def test_a_crowd_of_one_template_stays_linear(shelf):
    for number in range(2_000):
        shelf.add(f"tool{number}", [*article(1), f"tool{number}"])
    started = time.process_time()
    assert [(group.kind, len(group.others)) for group in shelf.groups()] == [(Kind.TEMPLATE, 1_999)]
    assert time.process_time() - started < 4


TEXT = st.lists(st.sampled_from(["alpha", "beta", "gamma", "表", "\ud800", "---"]), max_size=60).map(" ".join)


@given(st.lists(st.tuples(st.sampled_from(["a", "b", "c-d"]), TEXT), max_size=12))
def test_every_skill_is_in_at_most_one_group_of_copies_or_variants(skills):
    shelf = Shelf()
    for place, (name, body) in enumerate(skills):
        shelf.add(str(place), body, name=name)
    members = [
        key
        for group in shelf.groups()
        if group.kind in {Kind.EXACT, Kind.NEAR}
        for key in (group.first, *(other.key for other in group.others))
    ]
    assert len(members) == len(set(members))
