"""The page on learning says what is so: stages, tables, settings, limits and routes."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from skillyard.config.sections import Learning
from skillyard.learning import feedback, feedback_files, intake, memory
from skillyard.learning.rules import table
from skillyard.learning.rules.checks import report
from skillyard.learning.rules.table import HitPolicy, parse_table
from skillyard.learning.rules.values import ValueType
from skillyard.learning.states import MergeMode, Relation, Stage
from skillyard.server.api import feedback as feedback_routes
from skillyard.server.api import feedback_sources, feedback_taking, memories, proposals, rules

PAGE = (Path(__file__).parents[3] / "docs" / "learning.md").read_text(encoding="utf-8")
ROUTERS = (feedback_routes, feedback_sources, feedback_taking, memories, proposals, rules)


def block(language: str) -> str:
    (text,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return text


def test_the_table_in_the_page_decides():
    found = report(parse_table(json.loads(block("json"))["table"]))
    assert found.decides
    assert "gap" not in {remark.kind for remark in found.remarks}


@pytest.mark.parametrize("word", [*Stage, *Relation, *HitPolicy, *MergeMode, *ValueType])
def test_every_word_is_explained(word):
    assert f"`{word.value}`" in PAGE


def test_the_settings_in_the_page_are_settings():
    assert Learning(**tomllib.loads(block("toml"))["learning"]).rules == "review"


@pytest.mark.parametrize(
    "limit",
    [
        feedback.MAX_CONTENT,
        feedback.MAX_TASK,
        feedback.MAX_EVENTS,
        feedback.MAX_AGENTS,
        intake.MAX_AT_ONCE,
        feedback_files.MAX_LINES,
        memory.MAX_TEXT,
        table.MAX_COLUMNS,
        table.MAX_RULES,
    ],
)
def test_every_limit_is_told(limit):
    assert re.search(rf"\b{limit:,}\b", PAGE.partition("## Limits and privacy")[2].partition("## The API")[0])


def test_every_route_is_on_the_page():
    named = set(re.findall(r"`(GET|POST|PUT|PATCH|DELETE) (/api/v1/[^`]*)`", PAGE.partition("## The API")[2]))
    routes = {(method, route.path) for module in ROUTERS for route in module.router.routes for method in route.methods}
    assert len(routes) > 30
    assert routes == named
