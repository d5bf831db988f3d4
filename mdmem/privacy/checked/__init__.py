"""Values that need no name, because they check themselves: the words of a wallet's seed, and numbers of persons."""
