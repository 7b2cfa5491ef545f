"""Calls of tools by somebody who has heard names and ids of another person's, made up from what the tools take."""

from tests.private_yard import NAME, STEPS

KINDS = {
    "skill": "skill skills skill_name skill_id skill_ids related_skill_ids allowed_skill_names knowledge_id",
    "sandbox": "sandbox_id session_id",
    "cargo": "cargo_id",
    "execution": "execution_id execution_ids source_execution_ids",
    "payload": "payload_ref",
    "candidate": "candidate_id",
    "evaluation": "evaluation_id",
    "release": "release_id old_release_id new_release_id upgrade_of_release_id",
    "skill_key": "skill_key",
    "change": "number",
    "feedback": "feedback_id",
    "lesson": "lesson_id",
    "memory": "memory_id",
    "rule": "rule rule_id",
    "agent": "agent agents",
    "namespace": "namespace",
    "digest": "base",
}
"""What the arguments of tools name, by its kind."""
KIND_OF = {argument: kind for kind, arguments in KINDS.items() for argument in arguments.split()}
PLAIN_WORDS = """
allow_risky active_only allow benchmark benchmark_id change_summary cmd code command commands content
content_base64 cursor cwd days description detail document_path exec_type executable files folder from_version
has_description has_notes include_base64 include_code include_trace inputs kind knowledge_type learn limit
list_documents local_path matches max_output merge_mode n name notes offset operation passed path payload
postconditions preconditions profile query reason relation relationship_analysis relative_path report runs
sandbox_path scenario_key score script_name seconds secrets skill_artifact stage status stop_on_error
succeeded success_only summary table tags task task_description tenant_id text timeout to_version top_k ttl
upgrade_reason usage_notes user variables version visibility
"""
NAMES_NOTHING = frozenset(PLAIN_WORDS.split())
FITTING = {
    "payload": STEPS,
    "commands": ["open about:blank"],
    "matches": {"support": "quokka"},
    "operation": "UPDATE",
    "knowledge_type": "SKILL",
    "relation": "EXTENDS",
    "skill_artifact": {"name": NAME, "description": "Quokka ledgers.", "body_markdown": "# Ledgers\n"},
    "document_path": "SKILL.md",
    "path": "SKILL.md",
    "relative_path": "scripts/run.py",
    "script_name": "run.py",
    "version": "0.1.0",
    "query": "quokka ledgers",
    "task_description": "quokka ledgers",
}
PLAIN = {"string": "quokka", "integer": 1, "number": 1.0, "boolean": True, "array": [], "object": {}}


class StrangeCalls:
    """Calls of one tool of a private yard by one of the others; of each kind of things it knows Ann's and their own."""

    def __init__(self, yard, who, tool, turn):
        self._things, self._own = yard.things, yard.own[who]
        schema = tool["inputSchema"]
        self._properties = schema.get("properties", {})
        self._required = set(schema.get("required", ()))
        self._turn = turn

    @property
    def naming(self):
        """The arguments that name something."""
        return [name for name in self._properties if name in KIND_OF]

    def hers(self, argument):
        """Everything of Ann's that an argument may name, as it takes it."""
        kinds = ("skill", "memory", "rule") if argument == "knowledge_id" else (KIND_OF[argument],)
        return [self._as_taken(argument, value) for kind in kinds for value in self._things[kind]]

    def with_own(self, argument, value):
        """A call in which all but one thing are the caller's own, as far as they have one."""
        return {**{name: self._plain(name) for name in self._needed(argument)}, argument: value}

    def with_hers(self, argument, value):
        """A call in which all things are Ann's."""
        needed = self._needed(argument)
        return {**{n: self.hers(n)[0] if n in KIND_OF else self._plain(n) for n in needed}, argument: value}

    def of_own(self):
        """A call without anything of Ann's."""
        return {name: self._plain(name) for name in self._needed("")}

    def all_hers(self):
        """The calls in which all things are Ann's; of a tool that takes none, the one there is."""
        if not self.naming:
            yield self.of_own()
        tried = [self.with_hers(argument, self.hers(argument)[0]) for argument in self.naming]
        yield from (call for at, call in enumerate(tried) if call not in tried[:at])

    def _needed(self, argument):
        """The required ones, and those without which nothing would come of naming a thing."""
        useful = {"operation", "relation", "skill_artifact"} & self._properties.keys()
        if argument in {"old_release_id", "new_release_id"}:
            useful |= {"old_release_id", "new_release_id"} & self._properties.keys()
        return (self._required | useful) - {argument}

    def _plain(self, name):
        kind = KIND_OF.get(name)
        if kind is not None:
            values = self._own.get(kind) or self._things[kind]
            return self._as_taken(name, values[self._turn % len(values)])
        if name in FITTING:
            return FITTING[name]
        return PLAIN[next(iter(_types(self._properties[name])))]

    def _as_taken(self, argument, value):
        return [value] if "array" in _types(self._properties[argument]) else value


def _types(schema):
    return [kind for one in (schema, *schema.get("anyOf", ())) if (kind := one.get("type")) and kind != "null"]
