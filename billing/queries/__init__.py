"""Reads of billing, always scoped to an owner; `locked` holds every lock taken from Python."""
