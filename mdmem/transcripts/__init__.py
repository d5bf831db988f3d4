"""Import: turns what agents saved into the same events that their hooks send."""
