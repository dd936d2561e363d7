"""Prices the upstream's work exactly, independently of the gateway's code."""

from collections.abc import Mapping
from decimal import ROUND_CEILING, Decimal
from typing import Any

from bench.config import FULL_MODEL, FULL_PRICE, INPUT_PRICE, OUTPUT_PRICE


def rounded(exact: Decimal) -> int:
    """Round a cost up to whole micro-USD."""
    return int(exact.to_integral_value(ROUND_CEILING))


def plain(prompt_tokens: int, completion_tokens: int) -> Decimal:
    """Price tokens at the plain prices."""
    return prompt_tokens * Decimal(INPUT_PRICE) + completion_tokens * Decimal(OUTPUT_PRICE)


def of_entry(entry: Mapping[str, Any]) -> Decimal:
    """Price one entry of the upstream's ledger, of the model that is priced in full by its tier, band and caches."""
    prompt, completion = entry["prompt_tokens"], entry["completion_tokens"]
    if entry.get("model") != FULL_MODEL:
        return plain(prompt, completion)
    prices = _in_force(entry["service_tier"], prompt)
    read, written, written_1h = (entry[f"{name}_tokens"] for name in ("cached", "cache_write", "cache_write_1h"))
    counts = {
        "input_token": prompt - read - written,
        "cached_input_token": read,
        "cache_write_token": written - written_1h,
        "cache_write_1h_token": written_1h,
        "output_token": completion,
    }
    return sum((count * Decimal(prices[name]) for name, count in counts.items()), Decimal(0))


def _in_force(tier: str, prompt_tokens: int) -> Mapping[str, Any]:
    """Return the prices of a tier, with its bands or, in the default one, the base's."""
    own = FULL_PRICE["service_tiers"].get(tier)
    bands = FULL_PRICE["bands"] if own is None else own.get("bands", [])
    reached = [band for band in bands if prompt_tokens > band["above_input_tokens"]]
    return {**FULL_PRICE, **(own or {}), **(reached[-1] if reached else {})}
