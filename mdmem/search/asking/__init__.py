"""Asking: tells from its words alone whether a text asks about the past. Imports nothing slow."""
