"""What coding agents did, from the logs of their sessions that they keep on this machine."""
