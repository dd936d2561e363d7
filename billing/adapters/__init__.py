"""Payment providers, one per file."""
