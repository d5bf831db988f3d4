"""Asking: judges by the words of a text alone whether it asks about the past. Imports nothing slow."""
