"""Decisions about organizations that need no database."""
