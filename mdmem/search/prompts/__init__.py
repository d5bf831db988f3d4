"""Searching what the user said: a language like SQLite's FTS5, and what it matches among the prompts."""
