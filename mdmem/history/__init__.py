"""What git makes of a vault: commits, a journal, reviews, undo, sync, and a memory that can truly be deleted."""
