"""The MCP server: memory as tools, over stdio or HTTP. The sole importer of mcp.

A request comes over `stdio` and `pipes`, or `http`, `port` and `guard`. `access` determines what it may see, and `app`
calls the function of a row in `tools` or `resources`. Those functions ask the index through `lookup`, which leaves out
what the request may not see, and return plain values, which `app` sends both as they are and as text.
"""
