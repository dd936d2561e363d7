"""Views of the accounts app."""
