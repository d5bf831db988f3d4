"""Import: what agents saved by themselves becomes the same events that their hooks give."""
