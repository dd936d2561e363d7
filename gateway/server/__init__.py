"""The parts of the ASGI application."""
