"""`search`, `prompts` and `related`: the commands, what they print, and a plain search without loading click."""
