"""Rate limits are stated in two header fields, an item for each limit."""

from gateway.core.contract.rate_limits import RateLimit, rate_limit_headers


def test_an_item_for_each_limit_in_order() -> None:
    requests = RateLimit("account-requests", 600, 60, 599, 1)
    at_once = RateLimit("alias-concurrent", 500, None, 0, None)
    assert rate_limit_headers([requests, at_once]) == {
        "RateLimit-Policy": '"account-requests";q=600;w=60, "alias-concurrent";q=500',
        "RateLimit": '"account-requests";r=599;t=1, "alias-concurrent";r=0',
    }


def test_a_refill_that_is_due_now_has_a_reset() -> None:
    assert rate_limit_headers([RateLimit("sign-in", 5, 900, 5, 0)])["RateLimit"] == '"sign-in";r=5;t=0'


def test_no_limit_has_no_header() -> None:
    assert rate_limit_headers([]) == {}
