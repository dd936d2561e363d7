"""The error for upstream output that does not match its wire format."""


class MalformedAnswer(Exception):
    """An answer, or a stream event, that does not match its format."""
