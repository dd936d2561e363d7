"""Views of the organization routes."""
