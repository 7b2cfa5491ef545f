"""The page on releases says what is so: payloads, verdicts, numbers and routes."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from skillyard.config.sections import Releases
from skillyard.releases.decisions.evaluation import EvaluationPolicy, judge
from skillyard.releases.outcomes import Verdict
from skillyard.releases.payload_json import parse_payload
from skillyard.releases.payloads import CheckKind, PayloadKind, StepType, VariableType
from skillyard.releases.policy import ReleasePolicy
from skillyard.server.yard import (
    skills_candidates,
    skills_imports,
    skills_insights,
    skills_payloads,
    skills_releases,
    skills_runs,
    skills_work,
)

PAGE = (Path(__file__).parents[3] / "docs" / "releases.md").read_text(encoding="utf-8")
ROUTERS = (
    *(skills_candidates, skills_imports, skills_insights, skills_payloads, skills_releases, skills_runs),
    skills_work,
)


def block(language: str) -> str:
    (text,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return text


def test_the_payload_in_the_page_is_one():
    payload = parse_payload(json.loads(block("json")))
    assert {step.type for step in payload.steps} == set(StepType)
    assert payload.variables["password"].secret


@pytest.mark.parametrize("word", [*PayloadKind, *VariableType, *CheckKind, *Verdict])
def test_every_word_is_explained(word):
    assert f"`{word.value}`" in PAGE


def test_the_settings_in_the_page_are_the_defaults():
    assert Releases(**tomllib.loads(block("toml"))["releases"]) == Releases()
    assert set(tomllib.loads(block("toml"))["releases"]) == set(Releases.model_fields)


def test_what_is_said_of_evaluations_is_so():
    policy = EvaluationPolicy()
    assert f"at least {policy.rate:.0%}".replace("%", " %") in PAGE
    assert f"with {policy.confidence:.0%}".replace("%", " %") in PAGE
    assert f"Fewer than {policy.least_runs} are\n`inconclusive`" in PAGE
    assert judge(policy.least_runs - 1, policy.least_runs - 1).verdict == "inconclusive"
    assert [judge(passes, runs).passed for passes, runs in ((5, 5), (4, 5), (9, 10))] == [True, False, True]


def test_what_is_said_of_the_test_is_so():
    assert f"at most {ReleasePolicy().error:.0%}".replace("%", " %") in PAGE


def test_every_route_is_on_the_page():
    named = set(re.findall(r"`(GET|POST|PUT|DELETE) (/v1/[^`]*)`", PAGE))
    routes = {
        (method, route.path.replace(":path", ""))
        for module in ROUTERS
        for route in module.router.routes
        for method in route.methods
    }
    assert len(routes) > 25
    assert routes == named
