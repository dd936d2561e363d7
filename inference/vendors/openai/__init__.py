"""Upstreams that implement the public vendor API, over HTTP and over a WebSocket."""
