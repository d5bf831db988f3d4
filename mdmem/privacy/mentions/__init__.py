"""Mentions: private tags that a text only speaks about, so that they hide nothing."""
