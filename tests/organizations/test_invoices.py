"""Invoices in GET …/billing, and their prices."""

from typing import Any

import pytest
from django.test import Client

from billing.models import SeatPrice
from gateway.core.contract import limits
from organizations.operations import seat_invoices
from tests.factories import invoicing
from tests.factories.organizations import Team, product
from tests.organizations.tenant import LAST_MONTH, PRICE, Tenant
from tests.organizations.test_api import Api, caller

pytestmark = pytest.mark.django_db


@pytest.fixture
def api(client: Client) -> Api:
    return Api(client, caller(scopes=("wallet:read",)))


def test_shows_a_draft_and_the_invoice_issued_from_it_whole(tenant: Tenant, api: Api) -> None:
    seat_invoices.draft_all(now=tenant.now)
    start, end = (f"{at:%Y-%m-%dT%H:%M:%SZ}" for at in LAST_MONTH)
    days = (LAST_MONTH[1] - LAST_MONTH[0]).days
    draft = {
        "invoiceId": tenant.invoice.pk,
        "number": None,
        "status": "draft",
        "periodStart": start,
        "periodEnd": end,
        "totalMicrousd": 2 * PRICE,
        "lines": [{"product": "studio", "seatDays": 2 * days, "amountMicrousd": 2 * PRICE}],
    }
    assert _view(api, tenant)["invoices"] == [draft]
    tenant.save_method("card_declined")
    tenant.run()
    body = _view(api, tenant)
    assert (body["invoices"], body["pastDue"]) == ([{**draft, "number": "INV-000001", "status": "past_due"}], True)
    tenant.save_method()
    tenant.run()
    body = _view(api, tenant)
    assert (body["invoices"], body["pastDue"]) == ([{**draft, "number": "INV-000001", "status": "paid"}], False)


def test_the_newest_month_comes_first_and_another_organizations_are_not_there(tenant: Tenant, api: Api) -> None:
    made = [invoicing.issued(tenant.id, months_ago=ago).pk for ago in (2, 3)]
    invoicing.issued(Team("oscar").id)
    assert [one["invoiceId"] for one in _view(api, tenant)["invoices"]] == made


def test_more_invoices_than_a_report_shows_are_refused_whole(
    tenant: Tenant, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert limits.REPORT_INVOICES_MAX == 1000
    monkeypatch.setattr("billing.queries.invoices.REPORT_INVOICES_MAX", 2)
    for ago in (1, 2):
        invoicing.issued(tenant.id, months_ago=ago)
    assert len(_view(api, tenant)["invoices"]) == 2
    invoicing.issued(tenant.id, months_ago=3)
    status, body = api("GET", f"/organizations/{tenant.id}/billing")
    assert (status, body["error"]["code"]) == (422, "org_report_limit")


def _view(api: Api, tenant: Tenant) -> Any:
    status, body = api("GET", f"/organizations/{tenant.id}/billing")
    assert status == 200
    return body


def test_every_price_of_the_catalogue_is_dated_however_it_is_set(db: None) -> None:
    catalogue = product("studio", 5)
    catalogue.save()
    type(catalogue).objects.filter(pk=catalogue.pk).update(seat_price_microusd=6)
    type(catalogue).objects.bulk_update([catalogue], ["seat_price_microusd"])
    prices = SeatPrice.objects.filter(product="studio").order_by("effective_at")
    assert list(prices.values_list("price_microusd", flat=True)) == [5, 6, 5]
