"""The MCP SDK without what nobody here uses, for a process that a client waits for.

Importing the SDK is most of the time until a server over stdio answers: its packages gather all of it (clients, HTTP,
OAuth), and it builds some hundred models of either form of the protocol, of which a connection uses a few of one.
"""

from contextlib import suppress

from skillyard.imports import begin_late


def import_lean_sdk() -> None:
    """Import what serving needs; the rest comes when it is asked for. Call it before anything imports the SDK."""
    begin_late("mcp", "mcp.server", "mcp.client")
    with suppress(ImportError):  # where a later SDK keeps them, they are built at once
        from mcp_types._wire_base import WireModel  # noqa: PLC0415 -- no public name

        WireModel.model_config["defer_build"] = True
