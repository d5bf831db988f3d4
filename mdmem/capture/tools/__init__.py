"""What a note keeps of a tool run: one module per family of tools."""
