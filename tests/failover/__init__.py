"""Measures failovers: a primary and its standby under load, promoted again and again."""
