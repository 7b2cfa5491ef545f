"""Decisions about candidates and releases, from counts of runs: pure, and checked by simulation."""
