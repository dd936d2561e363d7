"""Events of several steps: recorded at the end, in the order of their owners, or not at all."""

import pytest
from django.db import transaction

from gateway.core.events.models import Event
from gateway.core.events.operations.in_order import Happened, at_the_end, record

pytestmark = pytest.mark.django_db


def happened(key: str, number: int = 0) -> Happened:
    return Happened("account", key, "wallet.low", {"n": number, "text": "ä\u2028'\\"})


def written() -> list[tuple[str, int, int]]:
    return [(event.owner_key, event.sequence, event.data["n"]) for event in Event.objects.order_by("id")]


def test_events_are_recorded_at_once_outside_of_a_block() -> None:
    record([happened("b", 1), happened("b", 2)])
    record([])
    assert written() == [("b", 1, 1), ("b", 2, 2)]
    assert Event.objects.first().data["text"] == "ä\u2028'\\"  # type: ignore[union-attr]


def test_a_block_records_at_its_end_by_owner() -> None:
    with at_the_end():
        record([happened("b", 1)])
        with at_the_end():
            record([happened("a", 2), happened("b", 3)])
        record([happened("a", 4)])
        assert written() == []
    assert written() == [("a", 1, 2), ("a", 2, 4), ("b", 1, 1), ("b", 2, 3)]


def test_a_block_that_fails_records_nothing_and_the_next_one_begins_anew() -> None:
    def fail() -> None:
        with transaction.atomic(), at_the_end():
            record([happened("a", 1)])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert written() == []
    record([happened("a", 2)])
    assert written() == [("a", 1, 2)]


def test_an_unknown_type_is_refused() -> None:
    with pytest.raises(ValueError, match=r"wallet\.full"):
        record([Happened("account", "a", "wallet.full", {})])


@pytest.mark.django_db(transaction=True)
def test_nothing_is_recorded_outside_of_a_transaction() -> None:
    with pytest.raises(transaction.TransactionManagementError):
        record([happened("a")])
    assert written() == []
