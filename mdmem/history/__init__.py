"""The vault's history in git: commits, journal, reviews, undo, sync, and purges."""
