"""Verbs of billing: each tells one rule in order, inside its own transaction."""
