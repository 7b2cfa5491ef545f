"""Components that tests need from the machine: without one, a test is skipped, or fails where every test must run."""

import os
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import pytest

from skillyard.sandbox.local.browser_parts import chromium_of_machine


def missing(reason: str) -> NoReturn:
    """Give a test up for something that cannot be had on this machine."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def require_package(name: str, requirement: str) -> None:
    if find_spec(name) is None:
        missing(f"{name} is not installed: pip install '{requirement}'")


def require_chromium() -> Path:
    """The browser that tests use."""
    configured = os.environ.get("SKILLYARD_CHROMIUM")
    program = Path(configured) if configured else chromium_of_machine()
    return program or missing("no Chromium is installed: apt-get install chromium-headless-shell")
