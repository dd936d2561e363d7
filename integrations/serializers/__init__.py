"""Wire shapes of the integrations."""
