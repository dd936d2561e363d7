"""When an unpaid checkout is asked for again, and when it is given up."""

from datetime import timedelta

from billing.rules.checkouts import OPEN_INTERVAL, is_given_up, next_check

LATER = timedelta(seconds=1)


def test_an_open_session_is_asked_for_often_until_it_must_have_expired() -> None:
    assert next_check("open", timedelta(hours=25)) == OPEN_INTERVAL
    assert (next_check("open", timedelta(hours=25) + LATER) or OPEN_INTERVAL) > OPEN_INTERVAL
    assert next_check("expired", timedelta()) is None


def test_a_checkout_is_given_up_when_its_session_must_have_expired() -> None:
    for status, age in (("creating", timedelta(hours=25)), ("open", timedelta(days=30))):
        assert not is_given_up(status, age)
        assert is_given_up(status, age + LATER)
    assert not is_given_up("paid", timedelta(days=10_000))
