"""Wire formats of the organization routes."""
