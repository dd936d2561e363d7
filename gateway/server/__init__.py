"""What the ASGI application is made of."""
