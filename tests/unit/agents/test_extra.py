import importlib
import sys

import pytest


@pytest.mark.parametrize(
    ("module", "framework"),
    [
        ("langchain_middleware", "langchain"),
        ("langchain_skill_tool", "langchain"),
        ("langchain_tools", "langchain_core"),
        ("deepagents_adapter", "deepagents"),
        ("deepagents_backend", "deepagents"),
        ("deepagents_graph", "deepagents"),
        ("deepagents_sandbox", "deepagents"),
        ("deepagents_skills", "deepagents"),
    ],
)
def test_without_its_framework_a_module_says_what_to_install(module, framework, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == framework]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, f"skillyard.agents.{module}", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Missing(framework), *sys.meta_path])
    with pytest.raises(ModuleNotFoundError, match=rf"'{framework}.*pip install 'skillyard\[agents\]'"):
        importlib.import_module(f"skillyard.agents.{module}")


class Missing:
    """Finds no module of a framework, as where it is not installed."""

    def __init__(self, framework):
        self.framework = framework

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == self.framework:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
