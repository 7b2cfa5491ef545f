"""Every dependency states its licence, and none is under the GPL or the AGPL; the LGPL is fine."""

import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

LOCK = Path(__file__).parents[2] / "requirements.lock"
LOCKED = sorted(set(re.findall(r"^([A-Za-z0-9._-]+)==", LOCK.read_text(encoding="utf-8"), re.MULTILINE)))
STRONG_COPYLEFT = re.compile(r"\b(?:A?GPL|(?:Affero )?General Public License)", re.IGNORECASE)
UNSTATED = re.compile(r"\s*(?:UNKNOWN|NONE)?\s*", re.IGNORECASE)
WEAK_COPYLEFT = re.compile(r"\bLGPL|Lesser General Public License", re.IGNORECASE)


def licences(package: str) -> list[str]:
    """What a package says of its licence: an expression, else classifiers, else the first line of the field."""
    metadata = distribution(package).metadata
    if expression := metadata.get("License-Expression"):
        return re.split(r"\s+OR\s+", expression)
    classifiers = [value for value in metadata.get_all("Classifier") or [] if value.startswith("License ::")]
    return classifiers or [(metadata.get("License") or "").partition("\n")[0]]


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
