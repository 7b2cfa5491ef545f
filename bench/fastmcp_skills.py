"""FastMCP's provider of skills over stdio, as its documentation shows it: the peer of `bench/mcp_serving.py`."""

import sys
from pathlib import Path

from fastmcp import FastMCP
from fastmcp.server.providers.skills import SkillsDirectoryProvider
from fastmcp.skills.extension import SkillsExtension

PAGE = 100


def main() -> None:
    mode, root = sys.argv[1], Path(sys.argv[2])
    provider = SkillsDirectoryProvider(roots=root, reload=mode == "reload", experimental_skills=mode == "experimental")
    server = FastMCP("skills", list_page_size=None if mode == "unpaged" else PAGE)
    server.add_provider(provider)
    if mode == "experimental":
        server.add_extension(SkillsExtension(providers=[provider]))
    server.run(show_banner=False, log_level="ERROR")


if __name__ == "__main__":
    main()
