"""Adapters for upstreams' protocols. Vendors' shared code is here; their endpoints are in the routes' own folders."""
