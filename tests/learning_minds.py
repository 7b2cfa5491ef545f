"""Models for those who torment learning: what one says depends on what it is asked, not on who asks first."""

import json

from skillyard.llm.scripted import Reply, ToolCall

FINISHED = Reply(text="Done.")


def call(tool, **arguments):
    return ToolCall(name=tool, arguments=arguments)


def calls(*each):
    return Reply(calls=each)


def remember(text):
    return calls(call("commit_to_memory", operation="CREATE", text=text))


def matching(*agents):
    """Says that these agents should learn just what was said."""

    def answer(asked):
        matches = [{"agent_id": agent, "meaning": asked["feedback"]["content"][:2000]} for agent in agents]
        return Reply(text=json.dumps({"matches": matches}))

    return answer


def by_plan(*plan):
    """The replies of a plan, one after the other within each conversation; the last one for ever."""
    return lambda asked, said: plan[min(len(said), len(plan) - 1)]


def in_no_words(_):
    """The answer where a test expects no question."""
    return Reply(status=501)


class Mind:
    """A script of three parts: whom feedback is for, what becomes of it, and what a skill says."""

    def __init__(self, match=None, decide=None, write=None, judge=None):
        self.match = match or matching("support")
        self.decide = decide or by_plan(remember("Say please."), FINISHED)
        self.write = write or in_no_words
        self.judge = judge or in_no_words
        self.decided = 0
        """How often a decision was begun."""
        self.matched = 0

    def __call__(self, request):
        system, user, *rest = request["messages"]
        asked, _ = json.JSONDecoder().raw_decode(user["content"])  # an author may be told more after it
        if request.get("tools"):
            said = [each for each in rest if each["role"] == "assistant"]
            self.decided += not said
            results = [each["content"] for each in rest if each["role"] == "tool"]
            return self.decide({**asked, "results": results}, said)
        if system["content"].startswith("You decide which agents"):
            self.matched += 1
            return self.match(asked)
        if system["content"].startswith("You judge"):
            return self.judge(asked)
        return self.write(asked)
