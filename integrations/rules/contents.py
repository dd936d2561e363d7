"""Artifact contents: names of kinds, and encoding as UTF-8 text or base64."""

import base64
import binascii

KIND = "[A-Za-z0-9_.-]{1,64}"
"""The syntax of a kind, as a regular expression."""


class UnreadableContent(ValueError):
    """The text does not match its encoding."""


def decode(content: str, encoding: str) -> bytes:
    """Decode a content, or raise UnreadableContent."""
    if encoding == "utf-8":
        return content.encode()
    try:
        return base64.b64decode(content, validate=True)
    except (binascii.Error, ValueError):
        raise UnreadableContent("not base64") from None


def encode(content: bytes) -> tuple[str, str]:
    """Encode a content; return the text and its encoding, `utf-8` if possible, else `base64`."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return base64.b64encode(content).decode(), "base64"
    return (text, "utf-8") if "\0" not in text else (base64.b64encode(content).decode(), "base64")
