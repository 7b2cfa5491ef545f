import pytest

from skillyard.errors import NotAllowedError
from skillyard.learning.drafts import Related
from skillyard.learning.judgements import MOST_NEAR, Judgements
from skillyard.learning.knowledge import Known, like
from skillyard.learning.states import Relation, Target


def skill(name: str, score: float = 1.0) -> Known:
    return Known(target=Target.SKILL, id=f"id-{name}", name=name, summary="", score=score)


def judged(judgements: Judgements, known: Known, relation: Relation) -> None:
    related = Related(target=known.target, id=known.id, name=known.name, relation=relation)
    judgements.relations[known.id] = related


def test_only_skills_that_are_about_as_like_as_the_best_are_near():
    judgements = Judgements()
    memory = Known(target=Target.MEMORY, id="mem-1", name="m", summary="", score=9.0)
    judgements.found([skill("best", 4.0), skill("good", 3.0), skill("weak", 1.0), memory])
    assert set(judgements.near) == {"id-best", "id-good"}
    judgements.found([skill(f"many-{number}", 2.0) for number in range(8)])
    assert len(judgements.near) == 2 + MOST_NEAR
    judgements.found([])
    assert len(judgements.near) == 2 + MOST_NEAR


def test_a_new_skill_is_made_when_all_that_is_near_was_judged_to_be_something_else():
    judgements = Judgements()
    assert judgements.objection_to_new_skill() is None
    judgements.found([skill("one"), skill("two")])
    judged(judgements, skill("one"), Relation.UNRELATED)
    objection = judgements.objection_to_new_skill()
    assert objection is not None
    assert "'two'" in objection.reason
    assert "'one'" not in objection.reason
    assert 'knowledge_id="two"' in objection.hint
    judged(judgements, skill("two"), Relation.COMPLEMENTS)
    assert judgements.objection_to_new_skill() is None


@pytest.mark.parametrize("relation", sorted(set(Relation) - {Relation.UNRELATED, Relation.COMPLEMENTS}))
def test_what_is_related_is_updated_with_its_name(relation: Relation):
    judgements = Judgements()
    judged(judgements, skill("one"), relation)
    objection = judgements.objection_to_new_skill()
    assert objection is not None
    assert objection.reason.endswith("the skill 'one': UPDATE that one.")
    assert objection.hint == 'commit_to_skill(operation="UPDATE", skill_id="one")'


@pytest.mark.parametrize("relation", list(Relation))
def test_only_what_is_overcome_is_deleted(relation: Relation):
    judgements = Judgements()
    with pytest.raises(NotAllowedError, match="not judged yet"):
        judgements.require_deletable(skill("one"), must_read=False)
    judged(judgements, skill("one"), relation)
    if relation in {Relation.CONFLICTS, Relation.SUPERSEDES, Relation.DUPLICATE}:
        judgements.require_deletable(skill("one"), must_read=False)
    else:
        with pytest.raises(NotAllowedError, match=f"the judgement is {relation}"):
            judgements.require_deletable(skill("one"), must_read=False)


def test_who_judges_for_themselves_has_to_read_first():
    judgements = Judgements()
    judged(judgements, skill("one"), Relation.SUPERSEDES)
    with pytest.raises(NotAllowedError, match="read as a whole"):
        judgements.require_deletable(skill("one"), must_read=True)
    judgements.read.add("id-one")
    judgements.require_deletable(skill("one"), must_read=True)


def test_what_a_search_finds_beside_the_words_themselves_is_like_them():
    weak = Known(target=Target.SKILL, id="1", name="skillyard", summary="Find, compare and install skills.")
    near = Known(target=Target.SKILL, id="2", name="refunds", summary="How to pay a refund. Use for refunds.")
    paint = "When a customer complains about the colour of paint, compare it with the sample in daylight."
    assert like(paint, [weak, near]) == []
    assert like("환불이 끝나면 감사 인사를 한다", [weak, near]) == [near]
    assert like("Thank people when you pay a refund.", [weak, near]) == [near]
