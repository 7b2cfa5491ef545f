"""The supervisor inside every sandbox: standard library only, for Python 3.8 and later, started by its path.

Its modules import each other by their bare names, as files of one folder or of one zip: nothing of Skillyard is there.
"""
