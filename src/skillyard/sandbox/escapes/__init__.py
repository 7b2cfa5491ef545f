"""Attempts to get out of a sandbox; sent into one as a program, and run outside as well, where they succeed.

Standard library only, for Python 3.8 and later. Each attempt returns what it got hold of, or fails; none of them harms
a machine on which it succeeds.
"""
