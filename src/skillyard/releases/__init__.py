"""From executions to releases: know-how that is mined, replayed, released to some, watched, and kept or taken back."""
