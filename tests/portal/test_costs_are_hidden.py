"""What a call cost the operator is on no page and in no answer of a person or an organization."""

from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.test import Client

from billing.models import CostVersion, UsageRecord
from billing.operations import usage_days
from tests.factories.billing import Purse, settle, used_for
from tests.portal.organization_browser import OrganizationPages
from tests.portal.usage_pages import Months

pytestmark = pytest.mark.django_db

COST = 987_654_321
SHOWN = ("987654321", "987.654321", "987.65", "987,654,321", "0.313131")
FORMS = ('"cost_microusd"', '"costMicrousd"', "cost_version", "margin")


def book(purse: Purse, months: Months, **fields: Any) -> str:
    """Settle a call with a known cost; return its id."""
    version = CostVersion.objects.create(deployment="1", components={"request": "0.313131"})
    usage_id = purse.call(10_000, now=months.this[0], **fields)
    known = {"cost_microusd": COST, "cost_version_id": version.pk}
    settle(usage_id, 5, now=months.this[0], quantities={**used_for(5), **known}, deployment="1")
    usage_days.roll_up_until(months.this[1])
    assert UsageRecord.objects.get(pk=usage_id).cost_microusd == COST
    return usage_id


def assert_hidden(client: Any, *paths: str) -> None:
    """Check that none of these has the cost, its price or a word for it."""
    for path in paths:
        answer = client.get(path)
        assert answer.status_code == 200, path
        body = async_to_sync(whole)(answer) if answer.streaming else answer.content
        words = body.decode()
        assert [shown for shown in (*SHOWN, *FORMS) if shown in words] == [], path


async def whole(answer: Any) -> bytes:
    """Return the body of a streamed answer."""
    return b"".join([piece async for piece in answer.streaming_content])


def test_a_persons_pages(alice: Client, own: Purse, months: Months) -> None:
    usage_id = book(own, months)
    assert_hidden(alice, "/", "/wallet", "/wallet/usage", f"/wallet/usage/{usage_id}", "/wallet/usage.csv")


def test_an_organizations_pages_and_answers(
    organization_pages: OrganizationPages, purse: Purse, months: Months
) -> None:
    book(purse, months, membership_id=organization_pages.member("member"), product="studio")
    owner, api = organization_pages["owner"], f"/api/organizations/{organization_pages.team.id}"
    pages = [organization_pages.path(name) for name in ("usage", "usage.csv", "wallet", "budgets")]
    assert_hidden(owner, *pages, f"{api}/billing", f"{api}/usage")
