"""The entries of a catalogue: a provider's model, with its prices."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from inference.rules.price_catalogues.numbers import EntryError, Repeated, number, price
from inference.rules.price_places import Place, Prices

NAMES_SHOWN_MAX = 6
SHOWN_MAX_CHARACTERS = 100
NO_PRICE = "it states no price of a component that this gateway knows"


@dataclass(frozen=True, slots=True)
class Entry:
    """A model in a catalogue: the catalogue's name for it, its provider ("" in an upstream's own list) and the provider's name
    for it. `fault` says why its prices cannot be read, `notes` what they do not say."""

    name: str
    provider: str
    model: str
    prices: Prices = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    fault: str = ""


Read = tuple[Mapping[Place, Fraction], tuple[str, ...]]


def entry_of(name: str, provider: str, model: str, value: Any, read: Callable[[Mapping[str, Any]], Read]) -> Entry:
    """Read one model's entry. One that cannot be read harms no other."""
    try:
        if isinstance(value, Repeated):
            raise EntryError("the catalogue has it more than once")
        prices, notes = read(members(value, "it"))
    except EntryError as error:
        return Entry(name, provider, model, fault=str(error))
    return Entry(name, provider, model, prices, notes, "" if prices else NO_PRICE)


def members(value: Any, what: str) -> Mapping[str, Any]:
    """Return an object, or raise EntryError."""
    if not isinstance(value, dict):
        raise EntryError(
            f"{what} is stated more than once" if isinstance(value, Repeated) else f"{what} is not an object"
        )
    return value


def priced(
    stated: Mapping[str, Any],
    components: Mapping[str, str],
    micro_per_unit: Fraction,
    *,
    above: int = 0,
    path: str = "",
) -> Iterator[tuple[Place, Fraction]]:
    """Yield the prices of those members that are components. Raises EntryError."""
    for member, component in components.items():
        found = price(f"{path}{member}", stated.get(member), micro_per_unit)
        if found is not None:
            yield Place(component, above), found


def left_out(names: Iterable[str]) -> tuple[str, ...]:
    """Describe priced members that are no component of this gateway."""
    found = sorted(names)
    if not found:
        return ()
    rest = len(found) - NAMES_SHOWN_MAX
    listed = [*map(shown, found[:NAMES_SHOWN_MAX]), *([f"and {rest} more"] if rest > 0 else [])]
    return (f"left out: {', '.join(listed)}",)


def is_nothing(value: Any) -> bool:
    """Return whether a stated price is absent or zero."""
    return number(value) in (None, 0)


def reasoning(stated: Any, output: Any) -> tuple[str, ...]:
    """Describe a price of reasoning tokens that is not the one of output tokens, as which they are charged here."""
    if is_nothing(stated) or number(stated) == number(output):
        return ()
    return (f"reasoning tokens have a price of their own, {shown(str(stated))}; here they are charged as output",)


def shown(text: str) -> str:
    """Return a catalogue's text as it may be printed: one line, not long."""
    return "".join(each if each.isprintable() else "?" for each in text[:SHOWN_MAX_CHARACTERS])
