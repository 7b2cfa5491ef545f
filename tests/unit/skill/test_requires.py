import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.skill.document import parse
from skillyard.skill.models import Severity
from skillyard.skill.names import is_valid_name, slugify
from skillyard.skill.requires import MAX_REQUIREMENTS, Requirement, parse_requires, requirements_of
from skillyard.skill.versions import Range


def codes(found):
    return [finding.code for finding in found.findings]


def of_skill(*lines):
    document = parse("\n".join(["---", "name: x", "description: y", *lines, "---", ""]).encode()).document
    return requirements_of(document)


@pytest.mark.parametrize(
    ("text", "items"),
    [
        (
            "other-skill >=1.2 third-skill team/fourth ^2",
            ["other-skill >=1.2", "third-skill", "team/fourth ^2"],
        ),
        ("", []),
        ("a", ["a"]),
        ("a *", ["a"]),
        ("a>=1.2", ["a >=1.2"]),
        ("a >= 1.2 b", ["a >=1.2", "b"]),
        ("a >=1.2,<2, b 1.x", ["a >=1.2 <2", "b 1.x"]),
        ("a 2 b", ["a 2", "b"]),
        ("3d-print 1password 1.2.3", ["3d-print", "1password 1.2.3"]),
        ("team/2048 ^1", ["team/2048 ^1"]),
        ("한국어-번역 ~1 팀/요약", ["한국어-번역 ~1", "팀/요약"]),
        ("translate　＞＝1.2，翻译", ["translate >=1.2", "翻译"]),
        ("My_Skill.v2", ["My_Skill.v2"]),
        ("a a >=1 a", ["a", "a >=1"]),
    ],
)
def test_a_line_names_skills_and_the_versions_after_each(text, items):
    found = parse_requires(text)
    assert [str(item) for item in found.items] == items
    assert found.findings == ()


@pytest.mark.parametrize(
    ("text", "code", "said", "kept"),
    [
        ("a >=one b", "requires-range", "skill 'a' cannot be read: '>=one'", ["b"]),
        ("a ==1 b", "requires-range", "'==1'", ["b"]),
        ("a v1.2", "requires-range", "'v1.2'", []),
        ("a b@1", "requires-name", "'b@1'", ["a"]),
        ("a/b/c d", "requires-name", "'a/b/c'", ["d"]),
        ("a/ d", "requires-name", "'a/'", ["d"]),
        (">=1.2 b", "requires-name", "'>=1.2' is a version without a skill", ["b"]),
        ("2048", "requires-name", "needs its namespace", []),
        ("n" * 65, "requires-name", "more than 64", []),
        ("a\u200bb c", "requires-name", "characters that no skill has", ["c"]),
        ("Python (3.11) a", "requires-name", "'(3.11)'", ["Python", "a"]),
    ],
)
def test_a_bad_entry_is_a_finding_and_the_others_are_kept(text, code, said, kept):
    found = parse_requires(text)
    assert codes(found) == [code]
    assert said in found.findings[0].message
    assert found.findings[0].field == "metadata.requires"
    assert found.findings[0].severity is Severity.WARNING
    assert found.findings[0].fix
    assert [str(item) for item in found.items] == kept


@pytest.mark.parametrize(
    ("lines", "items"),
    [
        (["metadata:", "  requires: a >=1.2 b"], ["a >=1.2", "b"]),
        (["metadata:", "  requires:", "    - a >=1.2", "    - b"], ["a >=1.2", "b"]),
        (["requires: [a, b ^1]"], ["a", "b ^1"]),
        (["requires: a"], ["a"]),
        (["metadata:", "  requires: a", "requires: [b, a]"], ["a", "b"]),
        (["requires:", "  skills: [a]", "  mcp: [github]"], ["a"]),
        (["requires:", "  mcp: [github]"], []),
        (["requires:"], []),
        (["license: MIT"], []),
    ],
)
def test_a_document_may_say_it_as_a_line_or_a_list_in_metadata_or_at_the_top(lines, items):
    found = of_skill(*lines)
    assert [str(item) for item in found.items] == items
    assert found.findings == ()


def test_entries_that_are_no_text_are_one_finding():
    found = of_skill("requires:", "  - a", "  - name: b", "  - [c]")
    assert [str(item) for item in found.items] == ["a"]
    assert [(finding.code, finding.field) for finding in found.findings] == [("requires-type", "requires")]


def test_very_many_requirements_are_cut_off_with_a_finding():
    names = [f"s{number}" for number in range(MAX_REQUIREMENTS + 1)]
    assert parse_requires(" ".join(names[:-1])).findings == ()
    found = parse_requires(" ".join(names))
    assert len(found.items) == MAX_REQUIREMENTS
    assert codes(found) == ["requires-many"]
    assert len(parse_requires("@ " * 10_000).findings) == MAX_REQUIREMENTS + 1


def test_names_are_compared_without_case_and_unicode_form():
    assert Requirement(name="Ångström/E\u0301tude").key == Requirement(name="ångström/Étude").key


def test_a_namespace_is_given_only_where_none_was_written():
    assert Requirement(name="a", range=Range.parse("^1")).within("team") == Requirement(
        name="team/a", range=Range.parse("^1")
    )
    assert Requirement(name="other/a").within("team").name == "other/a"


names = st.text(max_size=10).map(slugify).filter(lambda name: is_valid_name(name) and not name.isdecimal())
requirements = st.builds(
    Requirement,
    name=st.one_of(names, st.tuples(names, names).map("/".join)),
    range=st.sampled_from(["*", ">=1.2", "^2 <2.5", "1.x", "=1.0.0-rc.1"]).map(Range.parse),
)


@given(st.lists(requirements, max_size=5, unique=True))
def test_requirements_are_read_back_from_their_text(items):
    found = parse_requires(" ".join(map(str, items)))
    assert found.items == tuple(items)
    assert found.findings == ()


@given(st.text() | st.text(st.sampled_from("ab/ ,><=^~*1.2x-@\n")))
def test_any_text_is_read_and_what_is_read_is_stable(text):
    found = parse_requires(text)
    again = parse_requires(" ".join(map(str, found.items)))
    assert again.items == found.items
    assert again.findings == ()
