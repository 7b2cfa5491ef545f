"""Sandboxes at a computer-use server that is reached over MCP."""
