"""The write half: turns an agent's payload into a note. Standard library only."""
