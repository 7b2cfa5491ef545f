"""Agents: the tools with which any agent finds, loads and uses skills, whatever framework it is built with."""
