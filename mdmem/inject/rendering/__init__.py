"""Rendering: writes the memories that an agent is given: which sentences and lines of them, in a bounded block."""
