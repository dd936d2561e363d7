"""Template filters of the accounts app."""
