"""Optional query expansion: a model writes a guess at the note that is looked for. Off unless configured."""
