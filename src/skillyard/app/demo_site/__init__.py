"""A small shop on this machine, for the demonstration: one signs in and orders."""
