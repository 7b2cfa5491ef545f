"""Every finding about a `SKILL.md`: how serious it is in each profile, and how to fix it.

`docs/validation.md` lists these rules; a test keeps the two equal.
"""

from typing import Final, NamedTuple

from skillyard.skill.models import Finding, Profile, Severity

ERROR: Final = Severity.ERROR
WARNING: Final = Severity.WARNING
INFO: Final = Severity.INFO


class Rule(NamedTuple):
    lenient: Severity | None
    strict: Severity | None
    fix: str
    is_softer: bool = False
    """Whether `agents` asks for less than `strict`: the severity in `softer`."""
    softer: Severity | None = None

    def severity(self, profile: Profile) -> Severity | None:
        """How serious it is in a profile; None where it is ignored."""
        if profile is Profile.LENIENT:
            return self.lenient
        return self.softer if profile is Profile.AGENTS and self.is_softer else self.strict


RULES: Final[dict[str, Rule]] = {
    "file-too-large": Rule(ERROR, ERROR, "Move detail into files under references/ and link to them."),
    "encoding-bom": Rule(INFO, INFO, "Save the file as UTF-8 without a byte order mark."),
    "encoding-utf16": Rule(WARNING, ERROR, "Save the file as UTF-8."),
    "encoding-invalid": Rule(WARNING, ERROR, "Save the file as UTF-8."),
    "control-character": Rule(ERROR, ERROR, "Delete the character."),
    "body-control-character": Rule(WARNING, WARNING, "Delete the character."),
    "frontmatter-missing": Rule(
        ERROR, ERROR, "Start the file with a line ---, then name: and description:, then a line ---."
    ),
    "frontmatter-late": Rule(WARNING, ERROR, "Delete everything before the first --- line."),
    "frontmatter-unclosed": Rule(ERROR, ERROR, "End the frontmatter with a line that holds only ---."),
    "frontmatter-too-large": Rule(ERROR, ERROR, "Keep the frontmatter short; move detail into the body."),
    "frontmatter-not-mapping": Rule(ERROR, ERROR, "Write one `key: value` pair per line."),
    "yaml-invalid": Rule(ERROR, ERROR, "Put the value in double quotes."),
    "yaml-unquoted": Rule(WARNING, ERROR, "Put the value in double quotes."),
    "yaml-too-deep": Rule(ERROR, ERROR, "Flatten the value."),
    "yaml-too-many-nodes": Rule(ERROR, ERROR, "Move the data into a file of the skill."),
    "yaml-anchor": Rule(ERROR, ERROR, "Write the value out, or quote it if & is part of the text."),
    "yaml-alias": Rule(ERROR, ERROR, "Write the value out, or quote it if * is part of the text."),
    "yaml-tag": Rule(ERROR, ERROR, "Delete the tag, or quote the value if ! is part of the text."),
    "yaml-duplicate-key": Rule(ERROR, ERROR, "Keep one of them."),
    "yaml-key": Rule(ERROR, ERROR, "Use plain text as the key."),
    "yaml-documents": Rule(ERROR, ERROR, "Keep one document between the two --- lines."),
    "name-missing": Rule(WARNING, ERROR, "Add `name:` with the folder's name."),
    "name-type": Rule(WARNING, ERROR, "Write the name as plain text."),
    "name-length": Rule(WARNING, ERROR, "Shorten the name and rename the folder to match."),
    "name-case": Rule(WARNING, ERROR, "Write the name in lower case and rename the folder to match."),
    "name-hyphens": Rule(WARNING, ERROR, "Use single hyphens, and only between words."),
    "name-characters": Rule(WARNING, ERROR, "Use letters, digits and hyphens only."),
    "name-hidden": Rule(WARNING, ERROR, "Retype the name; it holds characters that cannot be seen."),
    "name-reserved": Rule(WARNING, ERROR, "Choose another name; Windows cannot have a folder of this one."),
    "name-mismatch": Rule(WARNING, ERROR, "Rename the folder or change `name:` so that both are equal."),
    "description-missing": Rule(ERROR, ERROR, "Add `description:` saying what the skill does and when to use it."),
    "description-empty": Rule(
        ERROR, ERROR, "Say what the skill does and when to use it; quote the text if it starts with #."
    ),
    "description-type": Rule(WARNING, ERROR, "Write the description as text, in quotes if it starts with [ or {."),
    "description-length": Rule(WARNING, ERROR, "Shorten it; detail belongs in the body."),
    "description-angle-brackets": Rule(None, WARNING, "Write it without < and >; some agents refuse them."),
    "description-hidden": Rule(WARNING, WARNING, "Delete the characters that cannot be seen."),
    "license-type": Rule(WARNING, WARNING, "Write the licence as plain text."),
    "compatibility-type": Rule(WARNING, ERROR, "Write the compatibility as plain text."),
    "compatibility-length": Rule(WARNING, ERROR, "Use 1 to 500 characters, or delete the field."),
    "metadata-type": Rule(WARNING, ERROR, "Write metadata as indented `key: value` lines."),
    "metadata-nested": Rule(None, WARNING, "Use plain text values; other readers may drop nested ones."),
    "requires-type": Rule(WARNING, WARNING, "Write the skills in one line or as a list, each with its versions."),
    "requires-name": Rule(WARNING, WARNING, "Write `name` or `namespace/name`, then the versions if they matter."),
    "requires-range": Rule(WARNING, WARNING, "Write versions as `>=1.2`, `^1.2`, `~1.2.3`, `=1.0.0`, `1.x` or `*`."),
    "requires-many": Rule(WARNING, WARNING, "Require fewer skills, or one that requires them."),
    "allowed-tools-type": Rule(None, WARNING, "Write the tools in one line, separated by spaces.", True),
    "allowed-tools-commas": Rule(None, WARNING, "Separate the tools by spaces.", True),
    "agent-field": Rule(None, ERROR, "Keep it for that agent; `--profile agents` accepts it.", True, INFO),
    "unknown-field": Rule(None, ERROR, "Move it under `metadata:`, unless an agent of yours reads it.", True, WARNING),
    "value-control-character": Rule(WARNING, ERROR, "Delete the character, or its escape."),
    "todo-left": Rule(None, WARNING, "Write what each stands for, or delete it."),
    "body-long": Rule(None, INFO, "Move detail into files under references/ and link to them."),
}


class Findings:
    """Collects findings, each as serious as the profile says; what a profile ignores is dropped."""

    __slots__ = ("items", "profile")

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.items: list[Finding] = []

    def add(self, code: str, message: str, *, field: str = "", line: int = 0) -> None:
        rule = RULES[code]
        severity = rule.severity(self.profile)
        if severity is not None:
            self.items.append(
                Finding(code=code, severity=severity, message=message, fix=rule.fix, field=field, line=line)
            )
