"""Where storing and answering meet: the processes that agents start for both."""
