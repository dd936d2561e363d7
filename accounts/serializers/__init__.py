"""Wire shapes of the accounts app."""
