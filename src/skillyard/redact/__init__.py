"""Keeps secrets out of what is shown and of what is written down."""

from skillyard.redact.patterns import redact, storable
from skillyard.redact.streams import Secrets, SecretStream

__all__ = ["SecretStream", "Secrets", "redact", "storable"]
