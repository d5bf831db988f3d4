"""Internal memories: what ghosts and agents remember by themselves, each in a scope that nothing widens.

Where a memory belongs comes from the connection (HTTP headers, the environment on stdio), never from an argument.
Two walls hold a scope: the folder that its memories lie in, and the tags that each of them bears; both have to
fit. Ranking, too, knows of nothing outside: an answer cannot tell what others remember.
"""
