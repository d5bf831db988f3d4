"""Injection: when an agent gets context, what it gets, and how it is written."""
