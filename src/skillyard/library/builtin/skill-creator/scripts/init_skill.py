#!/usr/bin/env python3
"""Start a new Agent Skill: a folder with a SKILL.md and one example of each kind of file.

Needs Python 3.9 or newer and quick_validate.py beside it, nothing else.
"""

from __future__ import annotations

import argparse
import io
import re
import sys
import unicodedata
from pathlib import Path

from quick_validate import name_problems

DESCRIPTION = (
    "TODO: say what this skill does and when to use it, in the words a user would type: tasks, file types, "
    "names of tools. Say also what it is not for."
)

SKILL_MD = """\
---
name: {name}
description: "{description}"
---

# {title}

TODO: one paragraph on the result this skill produces and what makes it hard to get right without it.

## Steps

1. TODO: the first thing to do, as an instruction. Say why where the reason is not obvious.
2. Run `scripts/example.py --help` and use the script for what must come out the same every time.
3. Read `references/api_reference.md` when the task needs details that most tasks do not.
4. Start the result from `assets/example_asset.txt`.
5. Check the result: TODO, how to tell that it is right before handing it over.

## Pitfalls

- TODO: a mistake that was really made, and what to do instead.

Delete every part and every example file that this skill does not need.
"""

SCRIPT = '''\
#!/usr/bin/env python3
"""TODO: say what this script does. Replace it, or delete it if the skill needs no script."""

import argparse
import json
import sys


def main() -> int:
    parser = argparse.ArgumentParser(description="Count the lines of a text file.")
    parser.add_argument("path", help="the file to read")
    path = parser.parse_args().path
    try:
        with open(path, encoding="utf-8") as file:
            lines = sum(1 for _ in file)
    except (OSError, UnicodeDecodeError) as error:
        print(f"cannot read {path}: {error}", file=sys.stderr)
        return 1
    print(json.dumps({"path": path, "lines": lines}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
'''

REFERENCE = """\
# Reference

TODO: detail that is needed for some tasks only: an API, a schema, a table of error codes.
Say in SKILL.md when to read this file. Give a file of more than 100 lines a table of contents.
"""

ASSET = """\
TODO: a file that goes into the result: a template, a style sheet, sample data. It is copied, not read.
"""

FILES = {
    "SKILL.md": SKILL_MD,
    "scripts/example.py": SCRIPT,
    "references/api_reference.md": REFERENCE,
    "assets/example_asset.txt": ASSET,
}


def init_skill(name: str, parent: Path) -> Path:
    """Write the files of a new skill below `parent`; what is there already is never touched."""
    folder = parent / name
    folder.mkdir(parents=True)
    for path, content in FILES.items():
        target = folder / path
        target.parent.mkdir(exist_ok=True)
        if path == "SKILL.md":
            title = name.replace("-", " ").capitalize()
            content = content.format(name=name, description=DESCRIPTION, title=title)  # noqa: PLW2901
        with target.open("x", encoding="utf-8", newline="\n") as file:
            file.write(content)
    (folder / "scripts/example.py").chmod(0o755)
    return folder


def suggestion(name: str) -> str:
    """The nearest name that is allowed."""
    return re.sub(r"[\W_]+", "-", unicodedata.normalize("NFKC", name[:1024]).lower())[:64].strip("-")


def main() -> int:
    """Start the skill named on the command line."""
    parser = argparse.ArgumentParser(
        description="Start a new Agent Skill.",
        epilog="Exit codes: 0 created, 1 not created (the reason is printed), 2 wrong usage.",
    )
    parser.add_argument("name", help="lower-case words joined by hyphens, at most 64 characters")
    parser.add_argument("--path", type=Path, default=Path(), help="where the folder is made (default: here)")
    arguments = parser.parse_args()
    output = sys.stdout
    if isinstance(output, io.TextIOWrapper):
        # A name in another script must not break the report on a terminal that cannot show it.
        output.reconfigure(errors="backslashreplace")
    name: str = arguments.name
    problems = name_problems(name)
    if problems:
        print("\n".join(problems), file=sys.stderr)
        if suggestion(name):
            print(f"try: {suggestion(name)}", file=sys.stderr)
        return 1
    try:
        folder = init_skill(name, arguments.path)
    except FileExistsError as error:
        print(f"{error.filename} exists already; nothing was changed", file=sys.stderr)
        return 1
    except (OSError, ValueError) as error:
        print(f"cannot write the skill: {error}", file=sys.stderr)
        return 1
    print(f"Created {folder}:")
    for path in FILES:
        print(f"  {path}")
    print("Next: edit SKILL.md, delete the examples you do not need, then run quick_validate.py on the folder.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
