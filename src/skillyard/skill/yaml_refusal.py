"""The one error that reading frontmatter raises."""

from typing import Final

UNQUOTED_COLON: Final = "A value contains ': ' and needs quotes."


class RefusedYamlError(Exception):
    """Frontmatter that is not read, with the rule it breaks and the line within it (from 0)."""

    def __init__(self, code: str, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.line = line
