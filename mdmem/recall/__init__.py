"""Recall: the processes that agents start, which store an event and answer it."""
