"""Metrics in Prometheus' format, and what is built on them."""
