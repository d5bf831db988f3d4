"""The pages by which a vault is read in any editor: start page, projects, days, sessions."""
