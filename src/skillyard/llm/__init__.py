"""Talking to models: any that speaks, within a budget, with all that was said kept."""
