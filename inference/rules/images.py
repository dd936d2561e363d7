"""Validates images from callers: a data URL, or a public https URL. The bytes determine an image's type, and its first
structure must be whole."""

import base64
import binascii
import re
from dataclasses import dataclass

from gateway.core.contract.errors import ImageRejected
from gateway.core.contract.limits import IMAGE_MAX_BYTES
from gateway.core.outbound.public_addresses import is_public_https
from inference.rules import image_structure

STILL_TYPES = frozenset({"image/png", "image/jpeg", "image/webp"})
CHAT_TYPES = STILL_TYPES | {"image/gif"}

_HEAD = re.compile(r"data:image/[a-z0-9.+-]+;base64,", re.IGNORECASE)
_HEAD_MAX_CHARACTERS = 100
PIECE_CHARACTERS = 64 * 1024  # a multiple of four
_PADDING_MAX = 4  # stays with the characters before it
_NAMES = {"image/png": "PNG", "image/jpeg": "JPEG", "image/webp": "WebP", "image/gif": "GIF"}
_WHOLE = {
    "image/png": image_structure.whole_png,
    "image/jpeg": image_structure.whole_jpeg,
    "image/webp": image_structure.whole_webp,
    "image/gif": image_structure.whole_gif,
}


@dataclass(frozen=True, slots=True)
class Image:
    """An image whose type was detected from its bytes."""

    media_type: str
    data: bytes

    @property
    def url(self) -> str:
        """Return it as a data URL."""
        return f"data:{self.media_type};base64,{base64.b64encode(self.data).decode()}"


def is_inline(url: str) -> bool:
    """Return whether a URL contains its data."""
    return url[:5].lower() == "data:"


def read_data_url(url: str, types: frozenset[str], param: str, max_bytes: int = IMAGE_MAX_BYTES) -> Image:
    """Decode an image from a data URL, or raise ImageRejected naming the member."""
    head = _HEAD.match(url[:_HEAD_MAX_CHARACTERS])
    if head is None:
        raise _rejected(types, param)
    try:
        data = decoded(url[head.end() :])
    except (binascii.Error, ValueError):  # ValueError: a character beyond ASCII
        raise ImageRejected("The image's data is not base64.", param=param) from None
    return read_image(data, types, param, max_bytes)


def read_image(data: bytes, types: frozenset[str], param: str, max_bytes: int = IMAGE_MAX_BYTES) -> Image:
    """Detect an image's type from its bytes, or raise ImageRejected naming the member."""
    if len(data) > max_bytes:
        raise ImageRejected(f"An image may have at most {max_bytes} bytes.", param=param)
    media_type = _media_type(data)
    if media_type not in types:
        raise _rejected(types, param)
    return Image(media_type, data)


def check_remote(url: str, types: frozenset[str], param: str) -> None:
    """Check that a URL may be public, or raise ImageRejected naming the member."""
    if not is_public_https(url):
        raise _rejected(types, param)


def decoded(text: str) -> bytes:
    """Decode strict base64 in pieces: decoding a large image at once would block other threads for 40 ms.

    Raises binascii.Error, or ValueError for a character beyond ASCII.
    """
    data, at = bytearray(), 0
    while at < len(text):
        end = at + PIECE_CHARACTERS if len(text) - at > PIECE_CHARACTERS + _PADDING_MAX else len(text)
        piece = text[at:end]
        if piece.endswith("=") and end < len(text):
            raise binascii.Error("padding before the end")
        data += base64.b64decode(piece, validate=True)
        at = end
    return bytes(data)


def _media_type(data: bytes) -> str:
    """Return the media type of an image whose first structure is whole; empty for anything else."""
    return next((media_type for media_type, is_whole in _WHOLE.items() if is_whole(data)), "")


def _rejected(types: frozenset[str], param: str) -> ImageRejected:
    *names, last = sorted(_NAMES[name] for name in types)
    return ImageRejected(
        f"An image must be a whole {', '.join(names)} or {last}, as a base64 data URL or at a public https URL.",
        param=param,
    )
