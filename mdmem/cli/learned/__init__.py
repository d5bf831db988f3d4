"""Commands on what was learned: open work, decisions, fixes, entities, proposals, digests."""
