"""What waits to be sent, and which endpoints are named to operators."""

from datetime import UTC, datetime, timedelta

import pytest

from gateway.core.events.models import Delivery
from gateway.core.events.operations import endpoints
from gateway.core.events.queries.backlog import Backlog, backlog, troubled
from tests.events.stage import endpoint, happen, spread

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("plain_kinds")]

NOW = datetime(2100, 1, 1, tzinfo=UTC)


def test_what_waits_is_counted() -> None:
    assert backlog(now=NOW) == Backlog(0, 0, 0.0)
    endpoint()
    endpoint("off", product="studio")
    for _ in range(3):
        happen()
    assert backlog(now=NOW) == Backlog(3, 0, 0.0)
    spread()
    Delivery.objects.update(next_at=NOW - timedelta(seconds=7))
    Delivery.objects.filter(pk=Delivery.objects.latest("pk").pk).update(next_at=NOW + timedelta(seconds=1))
    endpoints.disable(Delivery.objects.filter(endpoint__name="off")[0].endpoint_id, reason="Gone.")
    due = Delivery.objects.filter(endpoint__name="studio", next_at__lte=NOW).count()
    assert backlog(now=NOW) == Backlog(0, due, 7.0)


def test_endpoints_that_fail_or_were_disabled_by_the_gateway_are_named() -> None:
    endpoint("sound")
    endpoint("off", enabled=False)
    endpoint("failing", failing_since=NOW)
    endpoint("longer", failing_since=NOW - timedelta(days=1))
    endpoints.disable(endpoint("gone").pk, reason="Gone.")
    assert [one.name for one in troubled()] == ["longer", "failing", "gone"]
