"""Prompt search: a query language like SQLite's FTS5, and its matching against the user's prompts."""
