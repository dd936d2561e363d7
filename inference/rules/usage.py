"""Reads the counts of an upstream's usage object. Absent counts are missing; values that are not counts are
malformed."""

from collections.abc import Mapping
from typing import Any

from billing.rules.quantities import MalformedUsage


class MissingUsage(Exception):
    """The upstream did not report a count that the price needs; the call may have cost money."""


def read_total(usage: Mapping[str, Any], name: str) -> Any:
    """Read a required count, or raise MissingUsage. `Quantities` validates it."""
    value = usage.get(name)
    if value is None:
        raise MissingUsage(name)
    return value


def read_part(usage: Mapping[str, Any], group: str, name: str) -> Any:
    """Read an optional part of a count (`prompt_tokens_details.cached_tokens`), None if it is absent."""
    details = usage.get(group)
    if details is None or isinstance(details, dict):
        return details.get(name) if details else None
    raise MalformedUsage(f"{group} is not an object")
