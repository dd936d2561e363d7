"""Upstreams that implement the public Messages API."""
