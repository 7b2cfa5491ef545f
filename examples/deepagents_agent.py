"""A deep agent and a helper that share one sandbox with the skills of a registry in it.

    python examples/deepagents_agent.py

Its yard is a new one in a temporary folder; `Skillyard("https://yard.example.org", token=…)` would be yours.
"""

import asyncio
import tempfile
from pathlib import Path

from langchain_core.messages import AIMessage
from offline_model import call, chosen_model, show

from skillyard import Skillyard
from skillyard.agents.deepagents_graph import AgentNode, DeepAgentsGraphBuilder
from skillyard.agents.workshops import YardWorkshop

SKILLS = Path(__file__).parent / "skills"
CONVERT = "python3 /workspace/skills/unit-conversion/scripts/convert.py 26.2 mi km"


async def run(yard: Skillyard) -> None:
    model = chosen_model(
        call("read_file", file_path="/workspace/skills/meeting-minutes/SKILL.md", limit=1000),
        call("task", description="How many kilometres are 26.2 miles?", subagent_type="calculator"),
        call("read_file", file_path="/workspace/skills/unit-conversion/SKILL.md", limit=1000),
        call("execute", command=CONVERT),
        lambda messages: AIMessage(messages[-1].text.splitlines()[0]),
        lambda messages: call(
            "write_file",
            file_path="/workspace/minutes.md",
            content=f"# Minutes\n\n## Decisions\n\n- We run {messages[-1].text.strip()}.\n",
        ),
        call("execute", command="cat minutes.md"),
        AIMessage("The minutes are in /workspace/minutes.md."),
    )
    builder = DeepAgentsGraphBuilder(
        [
            AgentNode(name="secretary", system_prompt="You write minutes.", skills=("meeting-minutes",)),
            AgentNode(
                name="calculator",
                description="Calculates and converts.",
                system_prompt="You calculate.",
                skills=("unit-conversion",),
            ),
        ],
        model=model,
        workshop=YardWorkshop(yard),
    )
    async with builder as agent:
        notes = "We decided to run a marathon of 26.2 miles. Write the minutes, in kilometres."
        done = await agent.ainvoke({"messages": [{"role": "user", "content": notes}]})
        show(done["messages"])
        print("loaded:", ", ".join(f"{skill} → {status.folder}" for skill, status in builder.loaded.items()))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, Skillyard(home=Path(folder) / "yard") as yard:
        for skill in sorted(SKILLS.iterdir()):
            yard.publish(skill, version="1.0.0")
        asyncio.run(run(yard))


if __name__ == "__main__":
    main()
