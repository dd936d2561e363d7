"""Every limit of a route that is not a metered call has a name, a setting and a row in the documentation."""

import re

import pytest
from django.conf import settings

from gateway.core.contract.rate_limits import rate_limit_headers
from gateway.core.contract.route_limits import MANAGEMENT, ROUTE_LIMITS, RouteLimit
from gateway.settings import limits as numbers
from tests.contract.test_docs import ROOT

PAGE = (ROOT / "docs" / "route-limits.md").read_text()
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if re.match(r"\| `[a-z]+-", line)
]


def test_names_and_settings_are_used_once() -> None:
    assert len({limit.name for limit in ROUTE_LIMITS}) == len(ROUTE_LIMITS)
    assert len({limit.setting for limit in ROUTE_LIMITS}) == len(ROUTE_LIMITS)


@pytest.mark.parametrize("limit", ROUTE_LIMITS, ids=lambda limit: limit.name)
def test_each_is_in_the_page_with_its_setting_and_number(limit: RouteLimit) -> None:
    [row] = [row for row in ROWS if row[0] == f"`{limit.name}`"]
    number, unit = (f"{getattr(numbers, limit.setting):,}", limit.detail.rpartition("_per_")[2].replace("_", " "))
    assert row[1] == f"{number} {'in' if ' ' in unit else 'a' if unit != 'hour' else 'an'} {unit}"
    assert row[2] == f"`{limit.setting}`"
    assert ("each process" in row[3]) is not limit.is_exact


def test_the_page_lists_nothing_else() -> None:
    assert [row[0].strip("`") for row in ROWS] == [limit.name for limit in ROUTE_LIMITS]


def test_every_number_can_be_set() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text()
    names = [name for name in vars(numbers) if name.isupper()]
    assert {limit.setting for limit in ROUTE_LIMITS} <= set(names)
    assert [name for name in names if not hasattr(settings, name) or f"`{name}`" not in page] == []


def test_the_error_says_which_limit_and_when_to_retry() -> None:
    error = MANAGEMENT.exceeded(360, 7)
    assert (error.status, error.code) == (429, "rate_limited")
    assert error.details == {
        "scope": "account",
        "limit": "management_requests_per_minute",
        "remaining": 0,
        "retryAfterSeconds": 7,
    }
    state = rate_limit_headers([MANAGEMENT.state(360, 360, 7)])
    assert state == {
        "RateLimit-Policy": '"account-management-requests";q=360;w=60',
        "RateLimit": '"account-management-requests";r=0;t=7',
    }
    assert error.headers == {"Retry-After": "7", **state}
