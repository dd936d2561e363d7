"""Reads the counts of an upstream's usage object. What is absent is missing, what is no count is malformed."""

from collections.abc import Mapping
from typing import Any

from billing.rules.quantities import MalformedUsage


class MissingUsage(Exception):
    """The upstream did not say what the price needs; the work may have been done."""


def read_total(usage: Mapping[str, Any], name: str) -> Any:
    """Read a count that must be there, or raise MissingUsage. Whether it is a count, `Quantities` checks."""
    value = usage.get(name)
    if value is None:
        raise MissingUsage(name)
    return value


def read_part(usage: Mapping[str, Any], group: str, name: str) -> Any:
    """Read an optional part of a count (`prompt_tokens_details.cached_tokens`), None where it is absent."""
    details = usage.get(group)
    if details is None or isinstance(details, dict):
        return details.get(name) if details else None
    raise MalformedUsage(f"{group} is not an object")
