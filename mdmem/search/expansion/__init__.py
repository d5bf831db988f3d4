"""Expansion: models named by the user, for search guesses and prose in digests. Off unless configured."""
