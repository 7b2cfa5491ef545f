"""Decision rules: tables that are checked before they are kept, and executed rather than read."""
