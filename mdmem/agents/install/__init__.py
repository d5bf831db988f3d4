"""Installation: mdmem's entries in an agent's settings, MCP registration, and the command lines agents run."""
