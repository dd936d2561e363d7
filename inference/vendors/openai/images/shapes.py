"""Reads the documented members of the upstream's images, and only in their documented shape."""

import re
import time
from collections.abc import Mapping
from typing import Any

from inference.adapters.exchange import NotJSONError

REPORTED = ("background", "output_format", "quality", "size")
"""The members with which an answer or an event describes its image."""

_HEAD = re.compile(r"[A-Za-z0-9+/]+={0,2}", re.ASCII)
_HEAD_CHARACTERS = 64


def read_data(holder: Mapping[str, Any]) -> str:
    """Return an image's base64. Raises NotJSONError. Only its beginning is checked, because it may have many megabytes."""
    data = holder.get("b64_json")
    if not isinstance(data, str) or not data.isascii() or not _HEAD.fullmatch(data[:_HEAD_CHARACTERS]):
        raise NotJSONError("an image without its data")
    return data


def image_properties(holder: Mapping[str, Any]) -> dict[str, str]:
    """Return the members with which an answer or an event describes its image."""
    return {name: holder[name] for name in REPORTED if isinstance(holder.get(name), str)}


def created_of(holder: Mapping[str, Any], name: str) -> int:
    """Return the creation time of an image in Unix seconds, or the current time if the upstream does not report it."""
    created = holder.get(name)
    return created if type(created) is int and created >= 0 else int(time.time())
