"""Reads of the inference app."""
