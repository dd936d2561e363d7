"""Responses of the demo backend."""
