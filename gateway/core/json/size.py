"""Counts the values of a JSON text, only from its punctuation."""


def has_more_values(body: bytes, most: int) -> bool:
    """Return whether the objects and arrays of a JSON text have more than `most` members and elements in total.

    Cheap bounds come first, so that an ordinary body costs only a check of its length. In an invalid text, what comes
    before its first error is counted.
    """
    if len(body) <= 2 * most or bound_values(body) <= most:  # a value takes a byte, and a separator another
        return False
    body = _without_escapes(body)
    if body.count(b'"') > 4 * most:  # a member has at most two strings, with two quotation marks each
        return True
    return count_values(_without_strings(body)) > most


def count_values(structure: bytes | bytearray) -> int:
    """Return the number of members and elements in the objects and arrays of a text without strings and space."""
    return bound_values(structure) - structure.count(b"[]") - structure.count(b"{}")


def bound_values(body: bytes | bytearray) -> int:
    """Return an upper bound of the members and elements: a container has at most one more of them than commas."""
    return body.count(b",") + body.count(b"[") + body.count(b"{")


def has_members(body: bytes, members: int) -> bool:
    """Return whether the objects of a well-formed JSON text have at least `members` members: names are followed by
    colons.

    A reader that keeps only one of several members with the same name returns fewer of them.
    """
    return body.count(b":") == members or _without_strings(_without_escapes(body)).count(b":") == members


def _without_escapes(body: bytes) -> bytes:
    return body.replace(b"\\\\", b"").replace(b'\\"', b"") if b"\\" in body else body


def _without_strings(body: bytes) -> bytes:
    """Return a text's structure, with a quotation mark for each string."""
    return b'"'.join(body.split(b'"')[::2]).translate(None, b" \t\r\n")
