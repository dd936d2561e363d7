"""Runners that execute programs for the integrations."""
