"""Durable work: a row of some room says what is to be done, and it is done once, whoever is killed meanwhile."""
