"""Catalogues with anything anywhere: a price list that is valid, or a reason, and never another error."""

import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from billing.rules.prices import PriceError, PriceList
from inference.rules.price_catalogues.forms import FORMS, read_catalogue
from inference.rules.price_catalogues.numbers import CatalogueError
from inference.rules.price_changes import changes, is_beyond_bounds, propose
from inference.rules.price_matching import Sold, Statements, UnmatchedError, Way, match
from inference.rules.price_reports import lines, summary, table, yaml_rows
from tests.inference.prices.excerpts import DEEPINFRA, LITELLM, MODELS_DEV, OPENROUTER, TOGETHER

NOW: dict[str, Any] = {
    "input_token": "1",
    "request": "2",
    "image": {"1024x1024/high": "3"},
    "bands": [{"above_input_tokens": 128000, "input_token": "2"}],
    "service_tiers": {"flex": {"input_token": "0.5"}},
}
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "-1", "NaN", "1e400", "0.0000015", "\u0663", "context", "x\n\x1b[0m", 1e-320, 10**30, -0.0])
)
ANYTHING = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each container with each of its keys."""
    for key in value if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from places(value[key])


@given(
    text=st.sampled_from([LITELLM, MODELS_DEV, OPENROUTER, TOGETHER, DEEPINFRA]),
    form=st.none() | st.sampled_from(FORMS),
    wrong=st.lists(st.tuples(st.integers(0, 10_000), ANYTHING), max_size=4),
    markup=st.sampled_from(["0", "20", "-99.999999", "1000"]),
)
def test_nothing_but_a_price_or_a_reason(
    text: bytes, form: str | None, wrong: list[tuple[int, Any]], markup: str
) -> None:
    value = json.loads(text)
    for number, replacement in wrong:
        if found := list(places(value)):
            container, key = found[number % len(found)]
            container[key] = replacement
    catalogue = attempt(lambda: read_catalogue(json.dumps(value).encode(), form), CatalogueError)
    if isinstance(catalogue, str):
        return
    for entry in catalogue.entries:
        sold = Sold("fast", (Way("up", "up.example", entry.model),))
        said = Statements(upstreams=frozenset({"up"}))
        matched = attempt(partial(match, sold, catalogue, said), UnmatchedError)
        if not isinstance(matched, str):
            check([each for _, each in matched], markup)
        elif entry.model.isprintable():
            assert matched.isprintable()


def attempt(call: Callable[[], Any], refused: type[Exception]) -> Any:
    """Return the result, or the one line of the refusal."""
    try:
        return call()
    except refused as error:
        text = str(error)
    assert text
    return text


def check(entries: list[Any], markup: str) -> None:
    for now in (NOW, {}):
        found = propose(entries, now, Fraction(markup))
        try:
            prices = PriceList.parse(found.components)
        except PriceError:
            continue
        assert prices.unit_prices.keys() >= PriceList.parse(now).unit_prices.keys()
        assert is_beyond_bounds(now, found.components) or now
        assert all(each.proposed for each in changes(now, found.components))
        assert lines(table(now, found.components, found.rounded))
        assert yaml_rows([("fast", found.components)], "name")
        assert summary(now, found.components).isprintable()
