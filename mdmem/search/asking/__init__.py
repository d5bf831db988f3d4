"""Asking: whether a text asks for something of the past, told from its words alone; nothing slow is imported."""
