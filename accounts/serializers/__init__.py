"""Wire formats of the accounts app."""
