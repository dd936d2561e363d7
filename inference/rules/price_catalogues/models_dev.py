"""models.dev's `api.json`: providers, their models, and each one's `cost` in USD per million units."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from inference.rules.price_catalogues.entries import Entry, Read, entry_of, left_out, members, priced, reasoning
from inference.rules.price_catalogues.numbers import EntryError, tokens
from inference.rules.price_places import Place

COMPONENTS = {
    "input": "input_token",
    "output": "output_token",
    "cache_read": "cached_input_token",
    "cache_write": "cache_write_token",
    "input_audio": "input_audio_token",
    "output_audio": "output_audio_token",
}
OVER_200K = "context_over_200k"
CONTEXT = "context"
MICRO_PER_MILLION_USD = Fraction(1)
"""USD per million units is micro-USD per unit."""


def read(value: Mapping[str, Any]) -> Iterator[Entry]:
    """Read the models of all providers."""
    for provider, stated in value.items():
        models = stated.get("models") if isinstance(stated, dict) else None
        for model, entry in models.items() if isinstance(models, dict) else ():
            yield entry_of(f"{provider}/{model}", provider, model, entry, _prices)


def _prices(stated: Mapping[str, Any]) -> Read:
    if stated.get("cost") is None:
        return {}, ()
    cost = members(stated["cost"], "cost")
    prices = dict(priced(cost, COMPONENTS, MICRO_PER_MILLION_USD, path="cost."))
    bands, others = _bands(cost)
    others += [name for name in cost if name not in (*COMPONENTS, "reasoning", "tiers", OVER_200K)]
    return prices | bands, (*reasoning(cost.get("reasoning"), cost.get("output")), *left_out(others))


def _bands(cost: Mapping[str, Any]) -> tuple[dict[Place, Fraction], list[str]]:
    """Read the bands of `tiers`. `context_over_200k` is an older form of the same, and counts where there are no tiers."""
    bands: dict[Place, Fraction] = {}
    others: list[str] = []
    for stated in _list(cost.get("tiers")):
        band = members(stated, "cost.tiers")
        tier = members(band.get("tier"), "cost.tiers.tier")
        if tier.get("type") != CONTEXT:
            others.append(f"tiers of {tier.get('type')}")
            continue
        above = tokens("cost.tiers.tier.size", tier.get("size"))
        bands |= priced(band, COMPONENTS, MICRO_PER_MILLION_USD, above=above, path="cost.tiers.")
    if not bands and cost.get(OVER_200K) is not None:
        over = members(cost[OVER_200K], OVER_200K)
        bands |= priced(over, COMPONENTS, MICRO_PER_MILLION_USD, above=200_000, path=f"{OVER_200K}.")
    return bands, others


def _list(value: Any) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise EntryError("cost.tiers is no list")
    return value
