"""Templates: texts of steps in which `{{name}}` stands for the value of a variable."""

from skillyard.releases.filling.browser import fill_browser
from skillyard.releases.filling.python import fill_python
from skillyard.releases.filling.shell import environment_name, fill_shell, program_variables
from skillyard.releases.placeholders import Scalar, fill_text, is_variable_name, literal, placeholders, text_of, tidy

__all__ = [
    "Scalar",
    "environment_name",
    "fill_browser",
    "fill_python",
    "fill_shell",
    "fill_text",
    "is_variable_name",
    "literal",
    "placeholders",
    "program_variables",
    "text_of",
    "tidy",
]
