"""`skillyard learn` on the yard of this machine, with a scripted model: feedback, and what comes of it."""

import json

import pytest

from skillyard.llm.scripted import Reply, ScriptedModel, ToolCall

SAID = "인사할 때는 이름을 불러 주세요."
ABOUT = ("--agent", "support")


def play(*calls, agent="support", meaning="Greet people by their name."):
    """A script: the agent is meant, these tools are called one after the other, and that is all."""

    def script(request):
        if not request.get("tools"):
            return Reply(text=json.dumps({"matches": [{"agent_id": agent, "meaning": meaning}]}))
        done = sum(message["role"] == "tool" for message in request["messages"])
        return Reply(calls=[calls[done]]) if done < len(calls) else Reply(text="Done.")

    return script


def remembering(text="이름을 부른다."):
    return play(
        ToolCall(name="search_similar_knowledge", arguments={"query": "인사"}),
        ToolCall(name="commit_to_memory", arguments={"operation": "CREATE", "text": text}),
    )


@pytest.fixture
def model():
    with ScriptedModel(remembering()) as scripted:
        yield scripted


@pytest.fixture
def learn(open_yard, run, model, monkeypatch):
    """Run `skillyard learn …` with the model set."""
    monkeypatch.setenv("SKILLYARD_MODEL", model.settings["model"])
    monkeypatch.setenv("SKILLYARD_MODEL_BASE_URL", model.settings["model_base_url"])
    return lambda *words: run("learn", *words)


def test_feedback_is_learned_from_shown_and_undone(learn):
    given = learn("feedback", SAID, *ABOUT, "--task", "an e-mail", "--user", "mina")
    assert given.code == 0, given.err
    assert "committed" in given.out
    assert "support: memory new: 이름을 부른다." in given.out
    lesson = given.err.rpartition("skillyard learn undo ")[2].strip()
    assert learn("memory", "recall", "이름").out.count("이름을 부른다.") == 1
    feedback = given.out.split()[0]
    shown = learn("show", feedback, "--transcript")
    for text in (SAID, "CREATE MEMORY", "Greet people by their name.", "→ commit_to_memory", "4 calls", "by mina"):
        assert text in shown.out
    assert learn("show", feedback).out.count("commit_to_memory") == 0
    assert learn("undo", lesson, "-m", "It was wrong.").code == 0
    assert learn("memory", "recall", "이름").code == 1
    assert learn("show", feedback, "--json").json["lessons"][0]["state"] == "undone"


def test_the_same_feedback_comes_in_once(learn):
    first = learn("feedback", SAID, *ABOUT, "--event-id", "ticket-1", "--json").json
    again = learn("feedback", SAID, *ABOUT, "--event-id", "ticket-1")
    assert (first["created"], again.code) == (True, 0)
    assert "It was given before" in again.err
    other = learn("feedback", "Something else.", "--event-id", "ticket-1")
    assert (other.code, "says something else" in other.err) == (5, True)
    assert learn("list", "--json").json["counts"] == {"committed": 1}


def test_without_a_model_it_waits_and_says_how_to_set_one(learn, monkeypatch):
    monkeypatch.delenv("SKILLYARD_MODEL")
    given = learn("feedback", SAID, *ABOUT)
    assert given.code == 0
    assert "waiting_for_model" in given.out
    assert "skillyard config set model" in given.err
    watched = learn("watch")
    assert watched.out == "1 waiting_for_model\n"
    assert "Nothing is being worked on." in watched.err
    assert "skillyard config set model" in watched.err


def test_what_did_not_succeed_says_why_and_can_be_tried_again(learn, model, monkeypatch):
    monkeypatch.setenv("SKILLYARD_LEARNING__MAX_CALLS", "2")
    model.script = play(*[ToolCall(name="search_similar_knowledge", arguments={"query": "x"})] * 3)
    given = learn("feedback", SAID, *ABOUT)
    assert given.code == 1
    assert "needs_review" in given.out
    assert "budget of 2 calls is used up" in given.out
    feedback = given.out.split()[0]
    assert f"skillyard learn retry {feedback}" in given.err
    model.script = play(ToolCall(name="commit_to_memory", arguments={"operation": "CREATE", "text": "Greet."}))
    again = learn("retry", feedback)
    assert (again.code, "memory new: Greet." in again.out) == (0, True)
    assert learn("retry", feedback).code == 5


def test_a_file_is_taken_in_line_by_line(learn, tmp_path):
    file = tmp_path / "tickets.csv"
    file.write_text(f'content,agent,colour\n"{SAID}",support,red\n,support,\n"Be brief.",support,\n')
    looked = learn("feedback", "--file", file, "--dry-run")
    assert looked.code == 1
    assert "2 pieces of feedback: 1 line could not be read." in looked.out
    assert "line 3" in looked.out
    assert "colour" in looked.err
    given = learn("feedback", "--file", file, "--no-wait")
    assert (given.code, "2 new" in given.out) == (1, True)
    learn("watch")
    assert learn("list", "--json").json["counts"] == {"committed": 2}
    again = learn("feedback", "--file", file, "--json")
    assert (again.json["created"], again.json["known"]) == (0, 2)


def test_what_is_given_wrongly_is_refused(learn, tmp_path):
    assert learn("feedback", "--task", "an e-mail").code == 2
    assert learn("feedback", SAID, "--file", tmp_path / "x.csv").code == 2
    assert learn("feedback", SAID, "--dry-run").code == 2
    assert learn("feedback", "  ").code == 1
    assert learn("feedback", "--file", tmp_path / "none.csv").code == 3
    missing = learn("show", "fb-000000000000")
    assert (missing.code, "skillyard learn list" in missing.err) == (3, True)
    assert learn("list", "--stage", "somewhere").code == 2


def test_a_list_tells_what_stands_where(learn, model):
    assert "skillyard learn feedback" in learn("list").err
    learn("feedback", SAID, *ABOUT)
    model.script = play()
    assert "no_commit" in learn("feedback", "Thank you!").out
    listed = learn("feedback")
    assert [line.split()[1] for line in listed.out.splitlines()[:2]] == ["no_commit", "committed"]
    assert listed.out.splitlines()[-1] == "1 committed, 1 no_commit"
    assert "1 more; -n shows them." in learn("list", "-n", "1").err
    assert learn("list", "-s", "failed").err == "No feedback is at that stage.\n"


def test_watching_tells_of_each_as_it_comes_to_rest(learn, model):
    model.script = lambda request: Reply(text=json.dumps({"matches": []}))
    for number in range(3):
        assert learn("feedback", f"Thank you {number}!", *ABOUT, "--no-wait").code == 0
    watched = learn("watch", "--json")
    assert watched.code == 0
    assert watched.json["counts"] == {"no_commit": 3}


def test_feedback_is_read_from_stdin(learn, monkeypatch, tmp_path):
    (tmp_path / "said").write_text(SAID)
    with (tmp_path / "said").open() as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        assert learn("feedback", "-", *ABOUT, "--json").json["content"] == SAID
