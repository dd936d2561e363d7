"""Reads the counts of an upstream's usage object, or of an aggregator's own record of a call. Absent counts are missing; values
that are not counts are malformed."""

from collections.abc import Mapping
from typing import Any

from billing.rules.quantities import MalformedUsage, Quantities


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


def read_generation(record: Mapping[str, Any], generation_id: str) -> Quantities:
    """Read the tokens as counted by the model's provider. Raises MissingUsage if the record is incomplete or of another
    call, and MalformedUsage."""
    data = record.get("data")
    if not isinstance(data, Mapping) or data.get("id") != generation_id:
        raise MissingUsage("not this generation")
    return Quantities(
        input_tokens=read_total(data, "native_tokens_prompt"),
        cached_input_tokens=data.get("native_tokens_cached"),
        cache_write_tokens=data.get("native_tokens_cache_creation"),
        output_tokens=read_total(data, "native_tokens_completion"),
    )


def read_generation_tier(record: Mapping[str, Any]) -> Any:
    """Return the service tier of a record that was read, unchecked, None if it has none."""
    return record["data"].get("service_tier")
