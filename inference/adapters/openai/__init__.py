"""Shared code of endpoints that use the public vendor API over HTTP."""
