"""Reads, each scoped to what its caller may see."""
