"""What upstreams charge is dated and never edited, and a call's cost by it is exact or not known."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from billing.models import CostVersion
from billing.operations import costs, reviews
from billing.queries import costs as cost_queries
from billing.rules.costs import COST_MAX_MICROUSD, upstream_cost_microusd
from billing.rules.prices import PriceError, PriceList
from billing.rules.quantities import QUANTITY_MAX, Quantities
from tests.factories.billing import Purse, review

TOKENS = {"input_token": "0.10", "output_token": "0.40"}
USED = Quantities(input_tokens=100, output_tokens=10)


@pytest.mark.parametrize(
    ("components", "used", "expected"),
    [
        (TOKENS, USED, 14),
        (TOKENS, Quantities(input_tokens=1, output_tokens=0), 1),
        (TOKENS, Quantities(input_tokens=0, output_tokens=0), 0),
        (
            TOKENS | {"cached_input_token": "0"},
            Quantities(input_tokens=100, cached_input_tokens=100, output_tokens=0),
            0,
        ),
        ({"request": "2.5"}, Quantities(), 3),
        ({"input_token": "0.10"}, USED, 10),
        ({"image": {"small/low": "7"}}, Quantities(images=2, image_kind="small/low"), 14),
        ({"audio_second": "3"}, Quantities(seconds=0), 0),
        (TOKENS, Quantities(images=1), None),
        ({"input_kilobyte": "1"}, USED, None),
        ({}, USED, None),
        (
            {"input_token": "1000000000", "output_token": "1000000000"},
            Quantities(input_tokens=QUANTITY_MAX, output_tokens=QUANTITY_MAX),
            COST_MAX_MICROUSD,
        ),
    ],
)
def test_a_cost_is_exact_or_not_known(components: Any, used: Quantities, expected: int | None) -> None:
    assert upstream_cost_microusd(used, PriceList.parse(components)) == expected


def test_a_cost_that_cannot_be_computed_is_not_recorded(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> int:
        raise PriceError("image large/high has no price")

    assert costs.recorded(7, fail) == {}
    assert "at version 7 is not known" in caplog.text
    assert costs.recorded(7, lambda: 5) == {"cost_microusd": 5, "cost_version_id": 7}
    assert costs.recorded(7, lambda: None) == {}


def test_publishes_only_what_changed(db: None) -> None:
    now = timezone.now()
    first = costs.publish("1", TOKENS, now=now)
    assert first is not None
    assert costs.publish("1", {"output_token": "0.4", "input_token": "0.100000"}, now=now) is None
    second = costs.publish("1", {"request": "1"}, now=now)
    assert second is not None
    assert second.effective_at > now
    costs.publish("2", TOKENS, now=now)
    assert cost_queries.in_force("1", now - timedelta(seconds=1)) is None
    assert cost_queries.in_force("1", now) == first
    assert cost_queries.current({"1", "3"}, second.effective_at) == {"1": second}


def test_what_is_published_last_is_in_force_last(db: None) -> None:
    now = timezone.now()
    costs.publish("1", TOKENS, now=now)
    waited = costs.publish("1", {"request": "1"}, now=now - timedelta(seconds=1))
    assert cost_queries.in_force("1", now + timedelta(microseconds=1)) == waited


def test_a_cost_is_taken_away_by_a_version_without_components(db: None) -> None:
    now = timezone.now()
    assert costs.publish("1", {}, now=now) is None
    costs.publish("1", TOKENS, now=now)
    ended = costs.publish("1", {}, now=now + timedelta(hours=1))
    assert ended is not None
    assert ended.components == {}
    assert costs.publish("1", {}, now=now + timedelta(hours=2)) is None


def test_refuses_what_cannot_be_read(db: None) -> None:
    with pytest.raises(PriceError):
        costs.publish("1", {"input_token": 0.15}, now=timezone.now())
    assert not CostVersion.objects.exists()


def test_the_database_refuses_an_edit(db: None) -> None:
    costs.publish("1", TOKENS, now=timezone.now())
    with pytest.raises(IntegrityError, match="never changed"), transaction.atomic():
        CostVersion.objects.update(components={})
    with pytest.raises(IntegrityError, match="never changed"), transaction.atomic():
        CostVersion.objects.all().delete()


def reviewed(deployment: str | None, **evidence: Any) -> Any:
    """Leave a call to review and charge it by what was delivered; return its usage record."""
    from billing.models import UsageRecord

    call = Purse().pay(1000).call(100)
    review(call, deployment=deployment, evidence={"charge_microusd": 21, **evidence})
    assert reviews.reconcile(now=timezone.now()) == 1
    return UsageRecord.objects.get(pk=call)


def test_a_reviewed_call_costs_what_its_deployment_cost_when_it_was_sent(db: None) -> None:
    version = costs.publish("1", TOKENS, now=timezone.now() - timedelta(hours=1))
    assert version is not None
    costs.publish("1", {"request": "9"}, now=timezone.now() + timedelta(hours=1))
    record = reviewed("1", input_tokens=100, output_tokens=10)
    assert (record.charge_microusd, record.cost_microusd, record.cost_version_id) == (21, 14, version.pk)


@pytest.mark.parametrize(
    ("deployment", "evidence"),
    [("1", {}), ("2", {"input_tokens": 100, "output_tokens": 10}), (None, {"input_tokens": 140}), ("1", {"images": 1})],
    ids=["without quantities", "another deployment", "no deployment", "nothing that has a cost"],
)
def test_a_reviewed_call_is_charged_although_its_cost_is_not_known(
    deployment: str | None, evidence: dict[str, int], db: None
) -> None:
    costs.publish("1", TOKENS, now=timezone.now() - timedelta(hours=1))
    record = reviewed(deployment, **evidence)
    assert (record.charge_microusd, record.cost_microusd, record.cost_version_id) == (21, None, None)


@pytest.mark.parametrize("malformed", [{"input_tokens": 1, "cached_input_tokens": 2}, {"output_tokens": "many"}])
def test_a_reviewed_call_with_quantities_that_cannot_be_costs_nothing_known(malformed: Any, db: None) -> None:
    call = Purse().pay(1000).call(100)
    review(call, deployment="1")
    costs.publish("1", TOKENS, now=timezone.now() - timedelta(hours=1))
    from billing.models import Call

    assert costs.recorded_of_review(Call.objects.get(pk=call), malformed) == {}
