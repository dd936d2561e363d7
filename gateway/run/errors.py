"""The error with which a start may fail."""


class StartError(Exception):
    """Explains in one line why the gateway cannot start, and what would help."""


class DatabaseEnded(StartError):
    """Says that the embedded database ended while it started, or had to be ended because it took too long."""

    def __init__(self, text: str, code: int) -> None:
        super().__init__(text)
        self.code = code
