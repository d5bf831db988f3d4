"""The read half: a query becomes ranked notes."""
