"""Wire shapes of billing."""
