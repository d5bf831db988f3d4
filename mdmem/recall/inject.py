"""What commands registered by version 0.1 start for context."""

from mdmem.inject.process import main

__all__ = ["main"]
