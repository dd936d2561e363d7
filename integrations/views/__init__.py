"""Views of the integrations. SPEC: Optional first-party integrations."""
