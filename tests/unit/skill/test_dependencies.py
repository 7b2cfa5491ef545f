from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.errors import LimitError
from skillyard.skill import dependencies
from skillyard.skill.dependencies import Candidate, Conflict, Locked, Missing, Pool, resolve
from skillyard.skill.requires import Requirement, parse_requires
from skillyard.skill.versions import Version


def reqs(text):
    found = parse_requires(text)
    assert found.findings == ()
    return found.items


def yard(**skills):
    """Skills as `{version: requires}`; a version ending in `!` is yanked, one called `none` is none."""
    return {
        name.replace("_", "-"): [
            Candidate(
                name=name.replace("_", "-"),
                version=None if label == "none" else Version.parse(label.removesuffix("!")),
                digest=f"{name}@{label}",
                requires=reqs(requires),
                yanked=label.endswith("!"),
            )
            for label, requires in versions.items()
        ]
        for name, versions in skills.items()
    }


def resolved(skills, roots, **kwargs):
    return resolve(reqs(roots), lambda key: skills.get(key, ()), **kwargs)


def taken(resolution):
    assert resolution.conflicts == ()
    return {locked.name: str(locked.version) for locked in resolution.locked}


def test_the_newest_version_that_satisfies_everyone_is_taken():
    skills = yard(a={"1.0.0": "c ^1"}, b={"1.0.0": "c <1.5"}, c={"1.0.0": "", "1.4.0": "", "1.6.0": "", "2.0.0": ""})
    resolution = resolved(skills, "a b")
    assert resolution.locked == (
        Locked(name="a", version=Version.parse("1.0.0"), digest="a@1.0.0", required_by=()),
        Locked(name="b", version=Version.parse("1.0.0"), digest="b@1.0.0", required_by=()),
        Locked(name="c", version=Version.parse("1.4.0"), digest="c@1.4.0", required_by=("a", "b")),
    )
    assert resolution.complete
    assert resolution.cycles == ()


def test_an_older_version_is_taken_where_the_newest_leads_nowhere():
    skills = yard(
        a={"1.0.0": "", "2.0.0": "c ^2"},
        b={"1.0.0": "c ^1"},
        c={"1.0.0": "", "2.0.0": ""},
    )
    assert taken(resolved(skills, "a b")) == {"a": "1.0.0", "b": "1.0.0", "c": "1.0.0"}
    assert taken(resolved(skills, "a ^2")) == {"a": "2.0.0", "c": "2.0.0"}


def test_what_only_an_abandoned_version_required_is_not_locked():
    skills = yard(a={"1.0.0": "", "2.0.0": "extra gone b >=2"}, b={"1.0.0": ""}, extra={"1.0.0": ""})
    resolution = resolved(skills, "a b")
    assert taken(resolution) == {"a": "1.0.0", "b": "1.0.0"}
    assert resolution.missing == ()


def test_a_conflict_says_who_asks_for_what_and_locks_nothing():
    skills = yard(a={"1.0.0": "c ^1"}, b={"1.0.0": "c ^2"}, c={"1.0.0": "", "2.0.0": "", "2.1.0!": ""})
    resolution = resolved(skills, "a b gone")
    assert resolution.locked == ()
    assert not resolution.complete
    assert resolution.missing == (Missing(name="gone", required_by=()),)
    (conflict,) = resolution.conflicts
    assert conflict == Conflict(
        name="c",
        required=(("a", "^1"), ("b", "^2")),
        available=(Version.parse("2.0.0"), Version.parse("1.0.0")),
    )
    assert conflict.message == "'c' is required as ^1 by 'a' and ^2 by 'b'; there is 2.0.0, 1.0.0."


def test_a_missing_skill_is_reported_and_not_avoided():
    skills = yard(a={"1.0.0": "", "2.0.0": "gone ^1"}, b={"1.0.0": "gone"})
    resolution = resolved(skills, "a b")
    assert taken(resolution) == {"a": "2.0.0", "b": "1.0.0"}
    assert resolution.missing == (Missing(name="gone", required_by=("a", "b")),)
    assert not resolution.complete


def test_a_circle_is_reported_and_can_be_taken():
    skills = yard(b={"1.0.0": "c"}, c={"1.0.0": "a"}, a={"1.0.0": "b me"}, me={"1.0.0": "me"})
    resolution = resolved(skills, "c")
    assert taken(resolution) == {"a": "1.0.0", "b": "1.0.0", "c": "1.0.0", "me": "1.0.0"}
    assert sorted(resolution.cycles) == [("a", "b", "c"), ("me",)]


def test_circles_without_end_are_cut_off():
    names = [f"s{number}" for number in range(30)]
    skills = yard(**{name: {"1.0.0": " ".join(names)} for name in names})
    assert len(resolved(skills, "s0").cycles) == dependencies.MAX_CYCLES


def test_a_yanked_version_is_taken_only_when_it_was_locked_before():
    skills = yard(a={"1.0.0": "", "1.1.0!": ""}, b={"1.0.0!": ""})
    assert taken(resolved(skills, "a")) == {"a": "1.0.0"}
    assert resolved(skills, "a =1.1.0").conflicts
    (conflict,) = resolved(skills, "b").conflicts
    assert conflict.message == "'b' is required as * by you; there is no version that may be taken."
    locked = {"A": Version.parse("1.1.0"), "b": Version.parse("1.0.0")}
    assert taken(resolved(skills, "a b", locked=locked)) == {"a": "1.1.0", "b": "1.0.0"}


def test_what_was_locked_is_kept_while_it_satisfies():
    skills = yard(a={"1.0.0": "", "1.1.0": "", "2.0.0": ""})
    locked = {"a": Version.parse("1.0.0")}
    assert taken(resolved(skills, "a", locked=locked)) == {"a": "1.0.0"}
    assert taken(resolved(skills, "a >=1.1", locked=locked)) == {"a": "2.0.0"}


def test_a_skill_without_a_version_satisfies_only_a_requirement_without_one():
    skills = yard(a={"none": ""})
    assert resolved(skills, "a").locked == (Locked(name="a", version=None, digest="a@none", required_by=()),)
    (conflict,) = resolved(skills, "a >=0.0.0").conflicts
    assert "there is one without a version" in conflict.message


def test_a_prerelease_is_taken_when_named_or_when_there_is_nothing_else():
    skills = yard(a={"1.0.0": "", "1.1.0-rc.1": ""}, b={"1.0.0-rc.1": "", "1.0.0-rc.2": "", "1.0.0!": ""})
    assert taken(resolved(skills, "a b")) == {"a": "1.0.0", "b": "1.0.0-rc.2"}
    assert taken(resolved(skills, "a >=1.1.0-rc.1")) == {"a": "1.1.0-rc.1"}
    assert resolved(skills, "b >=0.1").conflicts


def test_a_skill_is_one_whatever_the_case_it_is_written_in():
    skills = {"straße".casefold(): yard(x={"1.0.0": "", "2.0.0": ""})["x"]}
    assert taken(resolved(skills, "Straße STRASSE ^1")) == {"x": "1.0.0"}


def test_hopeless_leaves_do_not_make_the_search_go_through_everything():
    versions = {f"1.{minor}.0": "" for minor in range(50)}
    skills = yard(**{f"s{number}": versions for number in range(30)}, last={"1.0.0": "s0 >=2"})
    assert resolved(skills, " ".join([*skills, "last"])).conflicts


def test_a_tangle_ends_in_a_typed_error(monkeypatch):
    monkeypatch.setattr(dependencies, "MAX_STEPS", 50)
    # Pigeons: each of six needs a hole of its own among five, which no search sees at a glance.
    pigeons = {f"p{n}": {f"{hole + 1}.0.0": f"hole{hole} ={n + 1}.0.0" for hole in range(5)} for n in range(6)}
    holes = {f"hole{hole}": {f"{n + 1}.0.0": "" for n in range(6)} for hole in range(5)}
    with pytest.raises(LimitError, match="tangled"):
        resolved(yard(**pigeons, **holes), " ".join(pigeons))


def test_a_store_is_asked_for_what_is_needed_a_level_at_a_time():
    skills = yard(a={"1.0.0": "b", "2.0.0": "c"}, b={"1.0.0": "d gone"}, c={"1.0.0": "a"}, d={"1.0.0": ""}, e={})
    pool, asked = Pool(reqs("a")), []
    while pool.wanted:
        asked.append(pool.wanted)
        pool.add({name: skills[name] for name in pool.wanted & skills.keys()})
    assert asked == [{"a"}, {"b", "c"}, {"d", "gone"}]
    assert resolve(reqs("a ^1"), pool.candidates) == resolved(skills, "a ^1")


def test_the_skills_to_load_have_a_limit(monkeypatch):
    monkeypatch.setattr(dependencies, "MAX_NAMES", 3)
    with pytest.raises(LimitError, match="More than 3"):
        Pool(reqs("a b c d")).add({})


NAMES = ("a", "b", "c", "d")
LABELS = ("1.0.0", "1.1.0", "2.0.0-rc.1", "2.0.0", "2.1.0!")
requirement_texts = st.builds(
    "{} {}".format, st.sampled_from((*NAMES, "gone")), st.sampled_from(("*", "^1", ">=1.1", "<2", "=2.0.0", "^2.0.0-a"))
)
requires = st.lists(requirement_texts, max_size=3).map(" ".join)
yards = st.fixed_dictionaries(
    {name: st.dictionaries(st.sampled_from(LABELS), requires, max_size=4) for name in NAMES}
).map(lambda skills: yard(**skills))


def fits(requirement, candidate, skills):
    if requirement.range.is_any and candidate.version.is_prerelease:
        return all(other.yanked or other.version.is_prerelease for other in skills[requirement.key])
    return requirement.range.matches(candidate.version)


def satisfies(chosen, roots, skills):
    demands = [*roots, *(required for candidate in chosen.values() for required in candidate.requires)]
    return all(
        fits(demand, chosen[demand.key], skills) if demand.key in chosen else not skills.get(demand.key)
        for demand in demands
    )


def some_choice_satisfies(roots, skills):
    options = [[None, *(one for one in skills[name] if not one.yanked)] for name in NAMES]
    return any(
        satisfies({name: one for name, one in zip(NAMES, choice, strict=True) if one}, roots, skills)
        for choice in product(*options)
    )


@given(yards, requires)
def test_what_is_locked_satisfies_everyone_and_a_conflict_means_that_nothing_could(skills, roots):
    resolution = resolved(skills, roots)
    if resolution.conflicts:
        assert resolution.locked == ()
        assert not some_choice_satisfies(reqs(roots), skills)
        return
    by_digest = {one.digest: one for versions in skills.values() for one in versions}
    chosen = {locked.name: by_digest[locked.digest] for locked in resolution.locked}
    assert satisfies(chosen, reqs(roots), skills)
    assert not any(one.yanked for one in chosen.values())
    asked = {required.key for one in chosen.values() for required in one.requires} | {one.key for one in reqs(roots)}
    assert set(chosen) | {missing.name for missing in resolution.missing} == asked


@given(yards, requires, st.randoms(use_true_random=False))
def test_the_order_of_candidates_makes_no_difference(skills, roots, random):
    shuffled = {name: random.sample(versions, len(versions)) for name, versions in skills.items()}
    assert resolved(shuffled, roots) == resolved(skills, roots)


@given(yards, requires)
def test_resolving_again_with_the_lock_changes_nothing(skills, roots):
    first = resolved(skills, roots)
    again = resolved(skills, roots, locked={locked.name: locked.version for locked in first.locked})
    assert again.locked == first.locked


def test_a_requirement_that_is_no_root_of_anything_resolves_to_nothing():
    assert resolve([], lambda _: ()) == dependencies.Resolution()
    assert resolve([Requirement(name="a")], lambda _: ()).missing == (Missing(name="a", required_by=()),)
