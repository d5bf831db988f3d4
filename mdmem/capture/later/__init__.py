"""Work done after an event: completing notes, reading transcripts, removing old state."""
