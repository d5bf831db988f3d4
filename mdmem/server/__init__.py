"""The server: memory as MCP tools, over stdio or HTTP on loopback. The sole importer of mcp."""
