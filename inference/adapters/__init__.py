"""Upstreams: one vendor a file, all behind the protocol of `base`."""
