"""The integrations' routes. SPEC: Optional first-party integrations."""
