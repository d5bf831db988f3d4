"""How much of a vault is here, and in how many files: archives of past years, clones of a part."""
