"""Payment providers, one a file."""
