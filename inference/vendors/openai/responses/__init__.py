"""Responses at upstreams that implement the public vendor API."""
