"""Models that the user named: guesses at what is searched for, and prose for digests. Off unless configured."""
