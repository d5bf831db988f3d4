"""Internal memories: what ghosts and agents remember for themselves, in scopes that nothing widens.

A memory's scope comes from the connection (HTTP headers, the environment on stdio), never from an argument.
Two checks protect a scope: the folder of its memories, and the tags of each memory; both must match.
Ranking uses nothing outside the scope, so that an answer reveals nothing of what others remember.
"""
