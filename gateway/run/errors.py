"""The error with which a start may fail."""


class StartError(Exception):
    """Explains in one line why the gateway cannot start, and what would help."""
