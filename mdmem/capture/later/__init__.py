"""What is done after an event: notes are completed, transcripts read, old state goes."""
