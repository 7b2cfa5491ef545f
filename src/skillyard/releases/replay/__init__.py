"""Doing again what was recorded, with new values, and saying loudly when it cannot be done."""
