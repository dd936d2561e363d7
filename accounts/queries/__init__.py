"""Reads of the accounts app, always scoped."""
