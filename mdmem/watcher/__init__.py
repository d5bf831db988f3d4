"""The watcher: file events become batches of paths, and a warm index answers over a local socket. Optional."""
