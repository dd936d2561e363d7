"""Wire formats of the integrations."""
