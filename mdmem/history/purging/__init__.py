"""Remove a text from every file and commit, record that it was done, and carry it to other machines."""
