"""Refuses parameters that the vendor's API does not have, according to its own client library."""

import re
import sys
from typing import Any

from stripe._request_options import RequestOptions

from tests.support.stripe.errors import Refusal
from tests.support.stripe.store import Json

OPTIONS = set(RequestOptions.__annotations__)
"""Settings of a client's call, which are not parameters."""
METADATA_KEYS_MAX, METADATA_KEY_CHARACTERS_MAX, METADATA_VALUE_CHARACTERS_MAX = 50, 40, 500


def check(params: Json, declared: type, path: str = "") -> None:
    """Refuse an unknown parameter at any depth, and metadata beyond its limits."""
    known = {name: kind for name, kind in declared.__annotations__.items() if name not in OPTIONS}
    for name, value in params.items():
        place = f"{path}[{name}]" if path else name
        if name not in known:
            raise Refusal(400, f"Received unknown parameter: {place}", code="parameter_unknown", param=place)
        if name == "metadata":
            _check_metadata(value, place)
        elif (nested := _nested(known[name], declared)) is not None:
            _check_members(value, nested, place)


def _check_members(value: Any, nested: type, place: str) -> None:
    if isinstance(value, list):
        for index, one in enumerate(value):
            _check_members(one, nested, f"{place}[{index}]")
    elif isinstance(value, dict):
        check(value, nested, place)


def _nested(kind: Any, declared: type) -> type | None:
    named = re.search(r"ForwardRef\('(\w+)'\)", repr(kind))
    found = getattr(sys.modules[declared.__module__], named[1], None) if named else None
    return found if isinstance(found, type) else None


def _check_metadata(value: Any, place: str) -> None:
    if value == "":
        return
    if not isinstance(value, dict):
        raise Refusal(400, "Invalid object", param=place)
    if len(value) > METADATA_KEYS_MAX:
        raise Refusal(400, f"Metadata can have at most {METADATA_KEYS_MAX} keys.", param=place)
    for key, text in value.items():
        if len(key) > METADATA_KEY_CHARACTERS_MAX or len(text) > METADATA_VALUE_CHARACTERS_MAX:
            raise Refusal(400, f"Metadata is too long: {key}", param=f"{place}[{key}]")
