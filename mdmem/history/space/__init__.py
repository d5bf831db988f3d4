"""Keep less of a vault on this machine, or fewer files: archives of past years, partial clones."""
