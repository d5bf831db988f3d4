"""Documents: formats in which other tools keep knowledge in files, read as notes."""
