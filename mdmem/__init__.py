"""mdmem: a filesystem-native markdown memory journal for coding agents."""

__version__ = "0.1.0"
