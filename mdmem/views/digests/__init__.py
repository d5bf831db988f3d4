"""Digests: rule-based summaries of a span of time or a session; a model adds prose on request."""
