"""The read half: turns a query into ranked notes."""
