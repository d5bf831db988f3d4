"""Injection: decides when an agent gets context and which, and renders it."""
