"""The generated pages of a vault, for reading it in any editor: start page, projects, days, sessions."""
