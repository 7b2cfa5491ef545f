"""An agent of LangChain that finds a skill, loads it, and runs its script.

python examples/langchain_agent.py
"""

import subprocess
import sys
from pathlib import Path

from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from offline_model import call, chosen_model, show

from skillyard import FolderLibrary
from skillyard.agents.langchain_middleware import SkillyardMiddleware
from skillyard.agents.library_source import LibrarySource

SKILLS = Path(__file__).parent / "skills"


def run_script(path: str, arguments: list[str]) -> str:
    """Run a Python script of a skill, given its absolute path."""
    if not Path(path).resolve().is_relative_to(SKILLS.resolve()):
        return "Only scripts of skills can be run."
    done = subprocess.run([sys.executable, path, *arguments], capture_output=True, text=True, check=False, timeout=30)
    return done.stdout or done.stderr


def main() -> None:
    model = chosen_model(
        call("load_skill", skill_name="unit-conversion"),
        call("get_skill_script_path", skill_name="unit-conversion", script_name="convert.py"),
        lambda messages: call("run_script", path=messages[-1].text, arguments=["26.2", "mi", "km"]),
        lambda messages: AIMessage(f"26.2 miles are {messages[-1].text.strip()}."),
    )
    skills = SkillyardMiddleware(LibrarySource(FolderLibrary(SKILLS)), agent="langchain-example")
    agent = create_agent(model, tools=[run_script], middleware=[skills])
    done = agent.invoke({"messages": [{"role": "user", "content": "How many kilometres are 26.2 miles?"}]})
    show(done["messages"])
    skills.close()


if __name__ == "__main__":
    main()
