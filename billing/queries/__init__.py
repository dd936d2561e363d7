"""Reads of billing, always scoped to an owner; `locked` takes every lock that Python code takes."""
