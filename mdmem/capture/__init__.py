"""The write half: an agent's payload becomes a note. Standard library only."""
