from skillyard.releases.decisions.course import course_document, moments
from skillyard.releases.decisions.sequential import Action, compare
from skillyard.releases.decisions.tally import Tally
from skillyard.releases.policy import ReleasePolicy

POLICY = ReleasePolicy()
STABLE = Tally(98, 100)


def course_of(outcomes):
    """The tallies of runs, after each of them."""
    return [Tally(sum(outcomes[:runs]), runs) for runs in range(1, len(outcomes) + 1)]


def test_each_moment_says_what_a_decision_at_that_moment_would_rest_on():
    for moment in moments(STABLE, course_of([1, 0, 1, 1, 0, 1]), policy=POLICY):
        decision = compare(STABLE, moment.tally, policy=POLICY)
        assert (moment.low, moment.high) == decision.bounds["canary"]
        assert moment.low <= moment.tally.rate <= moment.high
        assert (moment.worse, moment.not_worse) == (decision.evidence["worse"], decision.evidence["not_worse"])


def test_a_release_is_rolled_back_once_its_course_crosses_the_bound():
    course = course_of([1, 0] * 15)
    deciding = course_document([], policy=POLICY)["deciding"]
    for moment in moments(STABLE, course, policy=POLICY):
        taken_back = compare(STABLE, moment.tally, policy=POLICY).action is Action.ROLLBACK
        crossed = moment.worse >= deciding["worse"] and moment.tally.runs >= POLICY.minimum_sample
        assert taken_back == crossed
    assert taken_back


def test_a_course_is_told_with_its_bounds():
    told = course_document(moments(None, course_of([1, 1]), policy=POLICY), policy=POLICY)
    assert [each["runs"] for each in told["moments"]] == [1, 2]
    assert told["moments"][1]["success_rate"] == 1.0
    assert told["moments"][1]["bounds"][0] < told["moments"][1]["bounds"][1] == 1.0
    assert told["deciding"]["not_worse"] == 1 / POLICY.error
