"""Sound files: how long they are, honest and hostile."""
