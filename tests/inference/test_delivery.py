"""How much a stream has delivered, from its own bytes."""

from inference.rules.input_bound import tokens_of_bytes
from inference.rules.token_meter import Delivered


def test_a_token_an_event_is_counted_by_events() -> None:
    delivered = Delivered()
    for _ in range(10):
        delivered.add(1, 5)
    assert delivered.tokens_estimated == 10
    assert delivered.tokens_at_least == 10


def test_events_of_many_tokens_are_counted_by_their_bytes() -> None:
    delivered = Delivered(events=3, bytes=600)
    assert delivered.tokens_estimated == 150
    assert delivered.tokens_at_least == 3


def test_events_of_single_characters_are_never_over_counted_against_a_limit() -> None:
    delivered = Delivered(events=100, bytes=100)
    assert delivered.tokens_estimated == 100
    assert delivered.tokens_at_least == 25


def test_nothing_is_nothing() -> None:
    assert (Delivered().tokens_estimated, Delivered().tokens_at_least) == (0, 0)
    assert [tokens_of_bytes(size) for size in (0, 1, 4, 5)] == [0, 1, 1, 2]
