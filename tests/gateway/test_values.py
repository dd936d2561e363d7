"""Values of a call are made as dataclasses are, at the cost of plain objects."""

from dataclasses import replace

import pytest

from gateway.core.contract.values import value_class


@value_class(frozen=True, slots=True)
class Place:
    name: str
    floor: int = 0


def test_equal_values_are_one_key() -> None:
    assert Place("a", 1) == Place("a", 1) != Place("a", 2)
    assert {Place("a", 1): "here"}[Place("a", 1)] == "here"


def test_replace_makes_another_value() -> None:
    first = Place("a")
    assert (replace(first, floor=2), first) == (Place("a", 2), Place("a"))


def test_no_other_field_can_be_set() -> None:
    with pytest.raises(AttributeError):
        Place("a").street = "b"  # type: ignore[attr-defined]


def test_setting_a_field_does_not_pass_the_type_checker() -> None:
    place = Place("a")
    place.floor = 3  # type: ignore[misc]  # an unused ignore fails the check
    assert place.floor == 3
