"""Merging what two machines made of a vault: trees by path and id, notes by key, texts by line."""
