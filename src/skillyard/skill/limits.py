"""The sizes the format accepts, in one place."""

from typing import Final

KIB: Final = 1024
MIB: Final = 1024 * KIB

SKILL_FILE_NAMES: Final = ("SKILL.md", "skill.md")

MAX_NAME: Final = 64
MAX_DESCRIPTION: Final = 1024
MAX_COMPATIBILITY: Final = 500

MAX_SKILL_MD_BYTES: Final = 1 * MIB
MAX_FRONTMATTER_BYTES: Final = 256 * KIB
MAX_FRONTMATTER_NODES: Final = 10_000
MAX_FRONTMATTER_DEPTH: Final = 64

MAX_BUNDLE_FILES: Final = 2_000
MAX_BUNDLE_BYTES: Final = 16 * MIB
"""As much as skills may have when they are served over MCP; a scan of it takes a second or two."""
MAX_FILE_BYTES: Final = 16 * MIB
MAX_PATH_BYTES: Final = 1_024
MAX_PATH_DEPTH: Final = 32
MAX_ARCHIVE_BYTES: Final = 18 * MIB
MAX_ARCHIVE_RATIO: Final = 200
"""Unpacked bytes per packed byte, checked while unpacking."""

MAX_FOLDER_DEPTH: Final = 5
"""How deep below a root skills are looked for."""
