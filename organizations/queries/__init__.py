"""Queries of the organizations app, always scoped to what the caller may see."""
