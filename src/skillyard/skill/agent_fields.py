"""Fields of frontmatter that agents document beside those of the specification.

They have an effect: an agent ignores a field that was moved or dropped, and then starts by itself what only a person
may start. `docs/validation.md` lists them; a test keeps the two equal.
"""

from typing import Final

_FIELDS: Final = {
    "Claude Code": (
        "when_to_use",
        "argument-hint",
        "arguments",
        "disable-model-invocation",
        "user-invocable",
        "model",
        "effort",
        "context",
        "agent",
        "hooks",
        "paths",
        "shell",
    ),
    "Cursor": ("disable-model-invocation",),
    "GitHub Copilot": ("argument-hint", "disable-model-invocation", "user-invocable"),
    "OpenClaw": (
        "command-arg-mode",
        "command-dispatch",
        "command-tool",
        "disable-model-invocation",
        "homepage",
        "user-invocable",
    ),
}

AGENT_FIELDS: Final = {
    field: tuple(label for label, fields in _FIELDS.items() if field in fields)
    for field in sorted({field for fields in _FIELDS.values() for field in fields})
}
"""The agents that document each field."""
