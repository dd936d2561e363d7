"""The verbs of the accounts app."""
