"""Verbs of the model routes."""
