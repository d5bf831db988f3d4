"""All use of git: its processes, environment, index, lock and fast-import. Sole importer of GitPython."""
