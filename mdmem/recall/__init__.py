"""The read half: notes become context."""
