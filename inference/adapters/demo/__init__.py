"""A backend inside the gateway, for first runs without a key: deterministic, and honest about itself in its output."""
