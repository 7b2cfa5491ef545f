"""Learning from what people say: feedback becomes lessons, and lessons change memory, decision rules and skills."""
