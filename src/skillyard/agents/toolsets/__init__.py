"""The sets of tools, one for each room; every tool in them is a `Tool`."""
