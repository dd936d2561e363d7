"""Metered model calls: aliases, deployments, upstream adapters and streams."""
