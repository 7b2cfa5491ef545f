"""Deterministic rules over every byte of a bundle, whatever its files are called."""

from skillyard.skill.scan.catalogue import RULES, SCAN_CODES
from skillyard.skill.scan.engine import scan

__all__ = ["RULES", "SCAN_CODES", "scan"]
