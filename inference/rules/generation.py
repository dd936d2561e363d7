"""Reads an aggregator's own record of a call."""

from collections.abc import Mapping
from typing import Any

from billing.rules.quantities import Quantities
from inference.rules.usage import MissingUsage, read_total


def read_generation(record: Mapping[str, Any], generation_id: str) -> Quantities:
    """Read the tokens as counted by the model's provider. Raises MissingUsage if the record is incomplete or of another
    call, and MalformedUsage."""
    data = record.get("data")
    if not isinstance(data, Mapping) or data.get("id") != generation_id:
        raise MissingUsage("not this generation")
    return Quantities(
        input_tokens=read_total(data, "native_tokens_prompt"),
        cached_input_tokens=data.get("native_tokens_cached"),
        output_tokens=read_total(data, "native_tokens_completion"),
    )
