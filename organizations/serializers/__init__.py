"""Wire shapes of the organization routes."""
