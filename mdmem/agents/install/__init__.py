"""Installation: mdmem's entries in an agent's settings, MCP registration, and the command lines agents run.

`known` has a row for each agent. `registration` and `mcp_registration` change a `settings_file` through `json_text` and
`toml_text`, which leave every byte that is not mdmem's. The commands that they register start the `launcher`.
"""
