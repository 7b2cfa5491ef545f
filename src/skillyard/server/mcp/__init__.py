"""MCP: skills, and what else a yard can do, for every client of the Model Context Protocol."""
