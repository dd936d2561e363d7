"""Observations of requests, and what is kept of them."""
