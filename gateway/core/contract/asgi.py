"""What the server and the application agree on in an ASGI scope.

The server's modules are imported before Django is set up, so they import this and nothing of the application.
"""

CUT = "gateway.cut"
"""The extension of a scope that closes the connection after what was sent."""
