"""Builds the pages of docs/ as a site."""
