"""The error for what an upstream said in no form's shape."""


class MalformedAnswer(Exception):
    """An answer, or an event of a stream, that has not the shape of its form."""
