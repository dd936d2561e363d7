"""Upstreams' own lists of models with prices: OpenRouter's, Together's and DeepInfra's `/models`."""

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from billing.rules.prices import TOKEN_COMPONENTS
from inference.rules.price_catalogues.entries import (
    Entry,
    Read,
    entry_of,
    is_nothing,
    left_out,
    members,
    priced,
    reasoning,
)
from inference.rules.price_catalogues.numbers import MICRO_PER_USD, EntryError, tokens
from inference.rules.price_places import Place

OPENROUTER = {
    "prompt": "input_token",
    "completion": "output_token",
    "input_cache_read": "cached_input_token",
    "input_cache_write": "cache_write_token",
    "input_cache_write_1h": "cache_write_1h_token",
    "audio": "input_audio_token",
    "audio_output": "output_audio_token",
    "request": "request",
}
TOGETHER = {"input": "input_token", "output": "output_token", "cached_input": "cached_input_token"}
TOGETHER_RENT = ("hourly", "base", "finetune")
"""Prices of dedicated machines and of training, which no call is charged by."""

DEEPINFRA = {
    "input_tokens": "input_token",
    "output_tokens": "output_token",
    "cache_read_tokens": "cached_input_token",
    "cache_write_tokens": "cache_write_token",
}
MICRO_PER_MILLION_USD = Fraction(1)
OPENROUTER_TOKENS = {member: name for member, name in OPENROUTER.items() if name in TOKEN_COMPONENTS}
OVERRIDES, FROM_TOKENS = "overrides", "min_prompt_tokens"


def read_openrouter(models: list[Any]) -> Iterator[Entry]:
    """Read a list whose `pricing` is in USD per unit, as decimal strings."""
    yield from _entries(models, _openrouter)


def read_together(models: list[Any]) -> Iterator[Entry]:
    """Read a list whose `pricing` is in USD per million tokens."""
    yield from _entries(models, _together)


def read_deepinfra(models: list[Any]) -> Iterator[Entry]:
    """Read a list whose `metadata.pricing` is in USD per million tokens."""
    yield from _entries(models, _deepinfra)


def pricing_of(model: Any) -> Mapping[str, Any]:
    """Return a model's `pricing`, or that of its `metadata`; empty if it has none."""
    for stated in (model, model.get("metadata") if isinstance(model, dict) else None):
        if isinstance(stated, dict) and isinstance(stated.get("pricing"), dict):
            return dict(stated["pricing"])
    return {}


def _entries(models: list[Any], read: Callable[[Mapping[str, Any]], Read]) -> Iterator[Entry]:
    for model in models:
        name = model.get("id") if isinstance(model, dict) else None
        if isinstance(name, str):
            yield entry_of(name, "", name, model, read)


def _openrouter(model: Mapping[str, Any]) -> Read:
    pricing = members(model.get("pricing"), "pricing")
    prices = dict(priced(pricing, OPENROUTER, MICRO_PER_USD, path="pricing."))
    others = [name for name in pricing if name not in (*OPENROUTER, OVERRIDES, "internal_reasoning")]
    bands, conditions = _overrides(pricing.get(OVERRIDES))
    notes = reasoning(pricing.get("internal_reasoning"), pricing.get("completion"))
    return prices | bands, (
        *notes,
        *left_out([*(name for name in others if not is_nothing(pricing[name])), *conditions]),
    )


def _overrides(stated: Any) -> tuple[dict[Place, Fraction], list[str]]:
    """Read the prices from a number of prompt tokens on. An override with another condition is left out."""
    bands: dict[Place, Fraction] = {}
    others: list[str] = []
    if stated is not None and not isinstance(stated, list):
        raise EntryError("pricing.overrides is no list")
    for each in stated or ():
        override = members(each, "pricing.overrides")
        conditions = set(override) - set(OPENROUTER_TOKENS)
        if conditions != {FROM_TOKENS}:
            others += [f"overrides by {name}" for name in sorted(conditions)] or ["overrides without a condition"]
            continue
        above = tokens(FROM_TOKENS, override[FROM_TOKENS]) - 1  # a band begins above its threshold
        bands |= priced(override, OPENROUTER_TOKENS, MICRO_PER_USD, above=above, path="pricing.overrides.")
    return bands, others


def _together(model: Mapping[str, Any]) -> Read:
    pricing = members(model.get("pricing"), "pricing")
    renamed = {"cached_input": pricing["cachedInput"], **pricing} if "cachedInput" in pricing else pricing
    known = (*TOGETHER, *TOGETHER_RENT, "cachedInput")
    others = [name for name in pricing if name not in known and not is_nothing(pricing[name])]
    return dict(priced(_numbers(renamed, TOGETHER), TOGETHER, MICRO_PER_MILLION_USD, path="pricing.")), left_out(others)


def _deepinfra(model: Mapping[str, Any]) -> Read:
    pricing = members(members(model.get("metadata"), "metadata").get("pricing"), "metadata.pricing")
    others = [name for name in pricing if name not in DEEPINFRA and not is_nothing(pricing[name])]
    return dict(priced(_numbers(pricing, DEEPINFRA), DEEPINFRA, MICRO_PER_MILLION_USD, path="pricing.")), left_out(
        others
    )


def _numbers(pricing: Mapping[str, Any], components: Mapping[str, str]) -> Mapping[str, Any]:
    """Refuse prices that are text: vendors who write them so mean USD per token."""
    texts = [name for name in components if isinstance(pricing.get(name), str)]
    if texts:
        raise EntryError(f"pricing.{texts[0]} is not a number")
    return pricing
