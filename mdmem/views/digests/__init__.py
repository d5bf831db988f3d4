"""Digests: what happened in a span of time, or in a session, summed up by rules; a model adds prose on request."""
