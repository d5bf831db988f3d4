"""The entry point of `inject` commands that version 0.1 registered."""

from mdmem.inject.process import main

__all__ = ["main"]
