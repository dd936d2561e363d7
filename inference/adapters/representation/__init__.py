"""Shared code of endpoints that answer with representations: vectors, and answers made of several calls."""
