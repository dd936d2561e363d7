"""A deterministic backend inside the gateway, for first runs without an API key. Its output says that it is a demo."""
