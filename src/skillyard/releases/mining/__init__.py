"""Finding in executions what was done again and again: tasks, with what differs from time to time as variables."""
