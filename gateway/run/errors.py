"""The one error that a start may end in."""


class StartError(Exception):
    """Explain in one line why the gateway cannot start and what would help."""
