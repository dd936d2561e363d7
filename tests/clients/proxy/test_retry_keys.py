"""All attempts of a call have its key, and no two calls share one that is in use."""

import pytest

from account_gateway_client.proxy.retry_keys import (
    REMEMBERED_KEYS,
    REMEMBERED_SECONDS,
    RetryKeys,
    attempt_of,
    fingerprint,
)

ONE, OTHER = b"one", b"other"


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def keys(clock: Clock) -> RetryKeys:
    return RetryKeys(clock)


def sent(keys: RetryKeys, *, delivered: bool | None, body: bytes = ONE, attempt: int = 0, key: str = "") -> str:
    """Send an attempt; it is open if `delivered` is None."""
    key = key or keys.first()
    keys.sent(key, body, attempt)
    if delivered is not None:
        keys.ended(key, delivered=delivered)
    return key


def test_a_retry_gets_the_key_of_its_call(keys: RetryKeys) -> None:
    key = sent(keys, delivered=False)
    sent(keys, delivered=False, body=OTHER)
    for attempt in (1, 2, 3):
        assert keys.again(ONE, attempt) == key
        sent(keys, delivered=False, attempt=attempt, key=key)


def test_of_equal_calls_the_one_that_failed_is_tried_again(keys: RetryKeys) -> None:
    sent(keys, delivered=True)
    sent(keys, delivered=None)
    failed = sent(keys, delivered=False)
    assert keys.again(ONE, 1) == failed


def test_equal_calls_that_fail_together_keep_a_key_each(keys: RetryKeys) -> None:
    first = {sent(keys, delivered=False) for _ in range(5)}
    again = set()
    for _ in range(5):
        key = keys.again(ONE, 1)
        sent(keys, delivered=None, attempt=1, key=key)
        again.add(key)
    assert again == first


def test_an_answer_that_was_delivered_and_lost_is_asked_for_again(keys: RetryKeys) -> None:
    key = sent(keys, delivered=True, body=OTHER)
    assert keys.again(OTHER, 1) == key


def test_what_was_never_sent_gets_a_key_of_its_own(keys: RetryKeys) -> None:
    known = sent(keys, delivered=False)
    assert keys.again(OTHER, 1) != known
    assert keys.again(ONE, 0) != known


def test_keys_are_forgotten_after_an_hour(keys: RetryKeys, clock: Clock) -> None:
    old = sent(keys, delivered=False)
    clock.now = REMEMBERED_SECONDS + 1
    sent(keys, delivered=False, body=OTHER)
    assert keys.again(ONE, 1) != old


def test_the_oldest_of_too_many_is_forgotten(keys: RetryKeys) -> None:
    oldest = sent(keys, delivered=False, body=OTHER)
    for each in range(REMEMBERED_KEYS):
        sent(keys, delivered=False, body=str(each).encode())
    assert keys.again(OTHER, 1) != oldest


@pytest.mark.parametrize(
    ("text", "attempt"), [("0", 0), ("1", 1), ("12", 12), ("x", 0), ("-1", 0), ("", 0), ("٣", 0), ("9999", 0)]
)
def test_the_number_of_an_attempt(text: str, attempt: int) -> None:
    assert attempt_of({"x-stainless-retry-count": text}) == attempt


def test_a_forms_boundary_does_not_matter() -> None:
    forms = [
        fingerprint(
            "POST /v1/audio", f'multipart/form-data; boundary="{mark}"', f"--{mark}\r\nfile\r\n--{mark}--".encode()
        )
        for mark in ("a1b2", "c3d4")
    ]
    assert forms[0] == forms[1]
    assert fingerprint("/a", "application/json", b"{}") != fingerprint("/b", "application/json", b"{}")
    assert fingerprint("/a", "application/json", b"{}") != fingerprint("/a", "application/json", b"[]")
