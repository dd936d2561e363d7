"""Queries of the accounts app, always scoped to their owner."""
