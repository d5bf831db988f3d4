"""`search`, `prompts` and `related`: the commands, their output, and a plain search that does not load click."""
