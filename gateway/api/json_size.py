"""Counts what a JSON text holds before anything is made of it."""


def has_more_values(body: bytes, most: int) -> bool:
    """Tell whether the objects and arrays of a JSON text have more than `most` members and elements together.

    Cheap bounds come first, so that an ordinary body costs one look at its length. Of a text that is not JSON, what
    comes before its first error is counted.
    """
    if len(body) <= 2 * most or bound_values(body) <= most:  # a value takes a byte, and one to tell it from the next
        return False
    outside = _without_strings(body, most)
    if outside is None:
        return True
    return bound_values(outside) - outside.count(b"[]") - outside.count(b"{}") > most


def bound_values(body: bytes) -> int:
    """Return a number that members and elements cannot exceed: a container has at most one more of them than commas."""
    return body.count(b",") + body.count(b"[") + body.count(b"{")


def _without_strings(body: bytes, most: int) -> bytes | None:
    """Return a text's structure, with a quotation mark for each string, or None where it has too many strings."""
    if b"\\" in body:
        body = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    if body.count(b'"') > 4 * most:  # a member has at most two strings, with two quotation marks each
        return None
    return b'"'.join(body.split(b'"')[::2]).translate(None, b" \t\r\n")
