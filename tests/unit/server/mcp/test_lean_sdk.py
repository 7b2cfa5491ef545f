import subprocess
import sys

LEAN = """
import sys
from skillyard.server.mcp.lean_sdk import import_lean_sdk
import_lean_sdk()
import skillyard.server.mcp.stdio
"""
USE_A_MODEL = """
from mcp_types._v2026_07_28 import Implementation
print(Implementation.__pydantic_complete__)
Implementation.model_validate({"name": "client", "version": "1"})
print(Implementation.__pydantic_complete__)
"""


def _run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", LEAN + code], check=True, capture_output=True, text=True).stdout


def test_serving_over_stdio_imports_no_client_and_no_other_kind_of_server():
    unneeded = ("mcp.client.client", "mcp.client.stdio", "mcp.server.mcpserver")
    assert _run(f"print([name for name in {unneeded} if name in sys.modules])") == "[]\n"


def test_the_models_of_the_protocol_are_built_when_they_are_used():
    assert _run(USE_A_MODEL) == "False\nTrue\n"


def test_the_rest_of_the_sdk_is_there_for_whoever_asks_for_it():
    assert _run("from mcp import Client; from mcp.server import MCPServer; print(Client)") == (
        "<class 'mcp.client.client.Client'>\n"
    )
