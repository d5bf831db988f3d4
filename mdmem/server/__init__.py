"""The MCP server: memory as tools, over stdio or HTTP. The sole importer of mcp."""
