"""Strict JSON, read and written without long pauses."""
