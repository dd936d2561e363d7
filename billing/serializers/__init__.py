"""Wire formats of billing."""
