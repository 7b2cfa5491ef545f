"""Programs that talk to MCP servers: where each keeps its list of servers, and putting Skillyard into it."""
