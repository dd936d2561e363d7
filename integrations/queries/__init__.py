"""Reads of the integrations, always of the caller's own."""
