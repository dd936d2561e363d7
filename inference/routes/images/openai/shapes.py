"""What is kept of the upstream's images: what the vendor documents, and only in the shape that it documents."""

import re
import time
from collections.abc import Mapping
from typing import Any

from inference.adapters.exchange import NotJSONError

TOLD = ("background", "output_format", "quality", "size")
"""What an answer or an event says of its image."""

_HEAD = re.compile(r"[A-Za-z0-9+/]+={0,2}", re.ASCII)
_HEAD_CHARACTERS = 64


def read_data(holder: Mapping[str, Any]) -> str:
    """Return an image's base64, or raise NotJSONError. Only its beginning is looked at: it may be many megabytes."""
    data = holder.get("b64_json")
    if not isinstance(data, str) or not data.isascii() or not _HEAD.fullmatch(data[:_HEAD_CHARACTERS]):
        raise NotJSONError("an image without its data")
    return data


def told_of(holder: Mapping[str, Any]) -> dict[str, str]:
    """Return what an answer or an event says of its image."""
    return {name: holder[name] for name in TOLD if isinstance(holder.get(name), str)}


def created_of(holder: Mapping[str, Any], name: str) -> int:
    """Return when an image was made, in Unix seconds; now where the upstream does not say it."""
    created = holder.get(name)
    return created if type(created) is int and created >= 0 else int(time.time())
