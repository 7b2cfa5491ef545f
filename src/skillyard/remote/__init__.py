"""The client of a yard that is somewhere else, or in this process."""
