"""Contents of artifacts: what their kinds are called; text where they are UTF-8, base64 where they are not."""

import base64
import binascii

KIND = "[A-Za-z0-9_.-]{1,64}"
"""How a kind is written, as a regular expression."""


class UnreadableContent(ValueError):
    """Text that is not what its encoding says."""


def decode(content: str, encoding: str) -> bytes:
    """Return the bytes that were sent, or raise UnreadableContent."""
    if encoding == "utf-8":
        return content.encode()
    try:
        return base64.b64decode(content, validate=True)
    except (binascii.Error, ValueError):
        raise UnreadableContent("not base64") from None


def encode(content: bytes) -> tuple[str, str]:
    """Return a content as text, and the encoding of it: `utf-8` where it is text, else `base64`."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return base64.b64encode(content).decode(), "base64"
    return (text, "utf-8") if "\0" not in text else (base64.b64encode(content).decode(), "base64")
