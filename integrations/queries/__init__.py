"""Queries of the integrations app, always limited to the caller's own records."""
