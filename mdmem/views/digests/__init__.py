"""Digests: what happened in a span of time, or in a session, summed up without a model."""
