"""Every finding about a skill's files as a whole: paths, limits, archives, folders.

`rules.py` does the same for what stands inside `SKILL.md`. These do not depend on the profile: what is
unsafe to ship is unsafe for everyone.
"""

from typing import Final, NamedTuple

from skillyard.skill.models import Finding, Severity

_ERROR: Final = Severity.ERROR
_WARNING: Final = Severity.WARNING
_INFO: Final = Severity.INFO


class BundleRule(NamedTuple):
    severity: Severity
    fix: str


BUNDLE_RULES: Final[dict[str, BundleRule]] = {
    "path-empty": BundleRule(_ERROR, "Give every file and folder on the way a name."),
    "path-encoding": BundleRule(_ERROR, "Rename the file so that its name is UTF-8."),
    "path-hidden": BundleRule(_ERROR, "Rename the file without characters that cannot be seen."),
    "path-absolute": BundleRule(_ERROR, "Use a path relative to the skill's folder."),
    "path-escape": BundleRule(_ERROR, "Use a path inside the skill's folder, without `.` and `..` parts."),
    "path-backslash": BundleRule(_ERROR, "Separate folders by `/`."),
    "path-reserved": BundleRule(_ERROR, "Rename it; Windows takes this name for a device."),
    "path-edge": BundleRule(_ERROR, "Rename it without a dot or space at the end; Windows drops them."),
    "path-length": BundleRule(_ERROR, "Shorten the names of the file or its folders."),
    "path-depth": BundleRule(_ERROR, "Move the file closer to the skill's folder."),
    "path-collision": BundleRule(_ERROR, "Rename one of them; on many disks they are the same file."),
    "path-portable": BundleRule(_WARNING, 'Rename it without < > : " | ? *; Windows cannot store it.'),
    "bundle-files": BundleRule(_ERROR, "Delete files the skill does not need, or put them into one."),
    "bundle-size": BundleRule(_ERROR, "Delete files the skill does not need; let a script fetch big data."),
    "bundle-file-size": BundleRule(_ERROR, "Shrink the file, or let a script fetch it."),
    "skill-file-missing": BundleRule(_ERROR, "Add a SKILL.md at the top of the skill's folder."),
    "skill-file-renamed": BundleRule(_WARNING, "Rename skill.md to SKILL.md; some agents find no other."),
    "left-out": BundleRule(_INFO, "Nothing to do; delete them if they are not needed."),
    "link": BundleRule(_ERROR, "Replace the link by a copy of what it leads to."),
    "special-file": BundleRule(_ERROR, "Delete it; a skill holds plain files only."),
    "special-file-skipped": BundleRule(_WARNING, "Delete it; a skill holds plain files only."),
    "unreadable": BundleRule(_ERROR, "Check that it is there and that you may read it."),
    "changed-while-reading": BundleRule(_ERROR, "Try again once nothing writes to the folder."),
    "archive-unknown": BundleRule(_ERROR, "Give a .skill, .zip, .tar.gz or .tar file."),
    "archive-unsupported": BundleRule(_ERROR, "Pack it again with `skillyard pack`."),
    "archive-size": BundleRule(_ERROR, "Pack only what the skill needs."),
    "archive-entries": BundleRule(_ERROR, "Pack only what the skill needs."),
    "archive-ratio": BundleRule(_ERROR, "Do not unpack it by other means: it looks like a bomb."),
    "archive-damaged": BundleRule(_ERROR, "Fetch or pack the archive again."),
    "archive-forged": BundleRule(_ERROR, "Do not use it unless you know who made it; pack it again."),
    "archive-encrypted": BundleRule(_ERROR, "Pack it again without a password."),
    "archive-layout": BundleRule(_ERROR, "Pack one skill: SKILL.md at the top, or in the only top folder."),
}


def bundle_finding(code: str, message: str, *, file: str = "") -> Finding:
    rule = BUNDLE_RULES[code]
    return Finding(code=code, severity=rule.severity, message=message, fix=rule.fix, file=file)
