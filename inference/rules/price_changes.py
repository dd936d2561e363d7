"""Computes the price that a catalogue proposes, and how it differs from the one in force."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from inference.rules.price_catalogues.entries import Entry
from inference.rules.price_places import (
    Place,
    Prices,
    charged,
    components_of,
    decimal_text,
    is_exact,
    ordered,
    prices_of,
    texts_of,
)

IMAGE = Place("image")

FACTOR_MAX = 3
"""A price that changes by a larger factor is not accepted without a word about it."""


@dataclass(frozen=True, slots=True)
class Change:
    """One place of a price: what is charged now and proposed, as decimal strings. `now` is None if the place has no price of its
    own; `charged_now` is then what applies. `proposed` is None where nothing would be charged for it any more."""

    place: Place
    now: str | None
    charged_now: str
    proposed: str | None
    percent: Fraction | None
    is_beyond_bounds: bool


@dataclass(frozen=True, slots=True)
class ProposedPrice:
    """A price list, the places whose price was rounded up, and what the catalogue says of it beyond that."""

    components: dict[str, Any]
    rounded: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def propose(entries: Sequence[Entry], now: Mapping[str, Any], markup_percent: Fraction) -> ProposedPrice:
    """Compute a price from the entries of all deployments: at each place the dearest, with a markup.

    What the entries do not price stays as it is now. A zero for what costs nothing now adds nothing.
    """
    dearest, in_force, texts = _dearest([entry.prices for entry in entries]), prices_of(now), texts_of(now)
    notes = [note for entry in entries for note in entry.notes]
    if any(entry.prices != entries[0].prices for entry in entries):
        notes.append("the deployments have different prices; each of these is the highest")
    if IMAGE in dearest and any(place.component.startswith(f"{IMAGE.component} ") for place in texts):
        del dearest[IMAGE]
        notes.append("the catalogue has one price for images; those by size and quality stay")
    factor = 1 + markup_percent / 100
    wanted = {place: price * factor for place, price in dearest.items()}
    wanted = {place: price for place, price in wanted.items() if _is_news(place, price, in_force)}
    together = {**in_force, **wanted}
    for place, is_stated in _gaps(together, dearest).items():
        stated = max(charged(entry.prices, place) for entry in entries) * factor
        price = stated if is_stated else charged(in_force, place)
        if price != charged(together, place):
            wanted[place] = price
    texts |= {place: decimal_text(price) for place, price in wanted.items() if in_force.get(place) != price}
    rounded = tuple(str(place) for place in ordered(wanted) if not is_exact(wanted[place]))
    return ProposedPrice(components_of(texts), rounded, (*dict.fromkeys(notes), *_kept(in_force, dearest)))


def changes(now: Mapping[str, Any], proposed: Mapping[str, Any]) -> list[Change]:
    """List the places that differ, in the order in which a price is read."""
    before, after = texts_of(now), texts_of(proposed)
    prices_before, prices_after = prices_of(now), prices_of(proposed)
    differing = {place for place in {*before, *after} if prices_before.get(place) != prices_after.get(place)}
    return [
        _change(place, before.get(place), after.get(place), prices_before, prices_after) for place in ordered(differing)
    ]


def is_beyond_bounds(now: Mapping[str, Any], proposed: Mapping[str, Any]) -> bool:
    """Return whether a change needs a word of the operator: a factor over `FACTOR_MAX`, from or to zero, or a first price."""
    return not now or any(change.is_beyond_bounds for change in changes(now, proposed))


def _change(place: Place, now: str | None, proposed: str | None, before: Prices, after: Prices) -> Change:
    old, new = charged(before, place), charged(after, place)
    percent = (new - old) / old * 100 if old else None
    return Change(place, now, decimal_text(old), proposed, percent, _is_far(old, new))


def _is_far(old: Fraction, new: Fraction) -> bool:
    if old == new:
        return False
    return not old or not new or max(old, new) > FACTOR_MAX * min(old, new)


def _dearest(prices: Sequence[Prices]) -> dict[Place, Fraction]:
    """Return the highest price at each place that any of the lists prices."""
    places = {place for each in prices for place in each}
    return {place: max(charged(each, place) for each in prices) for place in places}


def _gaps(prices: Prices, stated: Prices) -> dict[Place, bool]:
    """Return the places that a band lacks and a lower one has, and whether that one is `stated`. If the bands come from different
    lists of prices, such a place would fall back to the price below all bands."""
    bands = {(place.tier, place.above) for place in prices if place.above}
    gaps: dict[Place, bool] = {}
    for place in prices:
        higher = [above for tier, above in bands if tier == place.tier and above > place.above > 0]
        for gap in (place._replace(above=above) for above in higher):
            if gap not in prices:
                gaps[gap] = gaps.get(gap, False) or place in stated
    return gaps


def _is_news(place: Place, price: Fraction, in_force: Prices) -> bool:
    return bool(price) or not in_force or place in in_force or bool(charged(in_force, place))


def _kept(in_force: Prices, proposed: Iterable[Place]) -> list[str]:
    """Describe the bands and tiers of the price in force that the catalogue does not have: they stay."""
    named = {(place.tier, place.above) for place in proposed}
    kept = [place for place in ordered(in_force) if place.scope and (place.tier, place.above) not in named]
    return [f"{scope} is not in the catalogue and stays" for scope in dict.fromkeys(place.scope for place in kept)]
