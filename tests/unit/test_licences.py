"""Every dependency states its licence, and none is under the GPL or the AGPL; the LGPL is fine."""

import re
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import pytest

LOCK = Path(__file__).parents[2] / "requirements.lock"
LOCKED = sorted(set(re.findall(r"^([A-Za-z0-9._-]+)==", LOCK.read_text(encoding="utf-8"), re.MULTILINE)))
STRONG_COPYLEFT = re.compile(r"\b(?:A?GPL|(?:Affero )?General Public License)", re.IGNORECASE)
UNSTATED = re.compile(r"\s*(?:UNKNOWN|NONE)?\s*", re.IGNORECASE)
WEAK_COPYLEFT = re.compile(r"\bLGPL|Lesser General Public License", re.IGNORECASE)


def licences(package: str) -> list[str]:
    """What a package says of its licence: an expression, classifiers, a line, or how the text itself begins."""
    installed = distribution(package)
    metadata = installed.metadata
    if expression := metadata.get("License-Expression"):
        return re.split(r"\s+OR\s+", expression)
    classifiers = [value for value in metadata.get_all("Classifier") or [] if value.startswith("License ::")]
    stated = (metadata.get("License") or "").partition("\n")[0]
    return classifiers or [stated or next(texts_of(installed), "")]


def texts_of(installed: Distribution) -> Iterator[str]:
    """How the licence files that come with a package begin."""
    named = installed.metadata.get_all("License-File") or []
    for path in installed.files or []:
        if path.name in named and ".dist-info" in str(path):
            yield " ".join(path.read_text(encoding="utf-8")[:500].split())


def is_acceptable(licence: str) -> bool:
    if UNSTATED.fullmatch(licence):
        return False
    return not STRONG_COPYLEFT.search(licence) or bool(WEAK_COPYLEFT.search(licence))


@pytest.mark.parametrize("package", LOCKED)
def test_a_dependency_states_a_licence_that_is_no_strong_copyleft(package):
    try:
        stated = licences(package)
    except PackageNotFoundError:
        pytest.skip(f"{package} is not for this platform")
    assert any(is_acceptable(licence) for licence in stated), stated


@pytest.mark.parametrize(
    ("licence", "acceptable"),
    [
        ("GPL-3.0-or-later", False),
        ("License :: OSI Approved :: GNU Affero General Public License v3", False),
        ("License :: OSI Approved :: GNU Lesser General Public License v3 (LGPLv3)", True),
        ("LGPL-3.0-only", True),
        ("MIT", True),
        ("", False),
        ("UNKNOWN", False),
    ],
)
def test_the_check_knows_the_licences_apart(licence, acceptable):
    assert is_acceptable(licence) is acceptable
