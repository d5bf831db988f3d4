"""The tests of what is learned: decisions, open work, fixes, entities, digests."""
