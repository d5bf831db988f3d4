"""The vault in a browser, on loopback, for its owner alone."""
