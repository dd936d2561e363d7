"""A simulated year of 50 organizations. The jobs run at every jump of the clock, and the oracle recomputes all
invoices.
"""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import Sum

from accounts.models import Account
from billing.models import ExternalMapping, Invoice, InvoiceLine, SeatPrice
from billing.operations import invoices
from billing.queries import audit
from gateway.core.contract.ids import new_id
from organizations.models import (
    Entitlement,
    EntitlementInterval,
    Membership,
    Organization,
    Seat,
    SeatInterval,
)
from organizations.operations import seat_invoices
from organizations.queries import seat_estimate
from tests.factories import organizations as factories
from tests.organizations import seat_model
from tests.organizations.seat_model import ProductModel, Span, months_between
from tests.support.unguarded import unguarded

pytestmark = pytest.mark.django_db

START, END = datetime(2027, 6, 1, tzinfo=UTC), datetime(2028, 6, 1, tzinfo=UTC)  # February 2028 has 29 days
ORGANIZATIONS, PEOPLE = 50, 6
PRICES = {
    "studio": [(START - timedelta(days=90), 20_000_000), (datetime(2027, 10, 14, 9, tzinfo=UTC), 23_456_789)],
    "courier": [(datetime(2027, 8, 20, tzinfo=UTC), 15_000_000), (datetime(2028, 2, 1, tzinfo=UTC), 14_999_999)],
    "gift": [(START, 0)],
}

Year = dict[str, dict[str, ProductModel]]


def a_time(draw: random.Random, start: datetime, end: datetime) -> datetime:
    """Draw an instant, often midnight or a month's end, where mistakes are likely."""
    at = start + timedelta(microseconds=draw.randrange((end - start) // timedelta(microseconds=1)))
    kind = draw.random()
    if kind < 0.2:
        return max(start, at.replace(hour=0, minute=0, second=0, microsecond=0))
    if kind < 0.3:
        return max(start, at.replace(day=1, hour=0, minute=0, second=0, microsecond=0) - timedelta(microseconds=1))
    return at


def some_spans(draw: random.Random, within: Span, most: int) -> list[Span]:
    """Draw successive spans within a span. If the outer span is open, the last one may be, too."""
    begin, limit = within
    end = limit or END + timedelta(days=20)
    times = sorted({a_time(draw, begin, end) for _ in range(2 * draw.randint(1, most))})
    spans: list[Span] = list(zip(times[::2], times[1::2], strict=False))
    if spans and draw.random() < 0.5:
        spans[-1] = (spans[-1][0], limit)
    return [(start, stop) for start, stop in spans if stop is None or stop > start]


def live(draw: random.Random, organization: Organization, members: list[Membership]) -> dict[str, ProductModel]:
    """Create one organization's year, as rows and for the oracle."""
    models = {}
    for product, prices in PRICES.items():
        model = models[product] = ProductModel(prices)
        model.enabled = some_spans(draw, (START - timedelta(days=40), None), 3)
        entitlement = Entitlement.objects.create(organization=organization, product_id=product)
        rows = [EntitlementInterval(entitlement=entitlement, started_at=a, ended_at=b) for a, b in model.enabled]
        EntitlementInterval.objects.bulk_create(rows)
        seats: list[SeatInterval] = []
        for seat in Seat.objects.bulk_create(Seat(entitlement=entitlement, membership=member) for member in members):
            spans = [span for outer in model.enabled for span in some_spans(draw, outer, 2)]
            model.seats += spans
            seats += [SeatInterval(seat=seat, started_at=a, ended_at=b) for a, b in spans]
        SeatInterval.objects.bulk_create(seats)
        if draw.random() < 0.15:
            model.mapped_at = a_time(draw, START, END)
            ExternalMapping.objects.create(
                org_id=organization.pk,
                product=product,
                provider="stripe",
                external_org_id=new_id("acct"),
                mode="test",
                verified_by="did:web:studio.example:olivia",
                verified_at=model.mapped_at + timedelta(days=200),
                created_at=model.mapped_at,
            )
    return models


@pytest.fixture(scope="module")
def year(django_db_setup: None, django_db_blocker: Any) -> Year:
    with django_db_blocker.unblock():
        return a_year()


def a_year() -> Year:
    draw = random.Random(20_270_601)
    for product in PRICES:
        factories.product(product)
    with unguarded():
        SeatPrice.objects.all().delete()
    SeatPrice.objects.bulk_create(
        SeatPrice(product=product, effective_at=at, price_microusd=price)
        for product, prices in PRICES.items()
        for at, price in prices
    )
    people = [Account.objects.create(did=f"did:web:studio.example:y{number}") for number in range(PEOPLE)]
    made = {}
    for number in range(ORGANIZATIONS):
        begun = START - timedelta(days=60)
        organization = Organization.objects.create(
            id=new_id("org"), name=f"Company {number}", created_at=begun, changed_at=begun
        )
        members = Membership.objects.bulk_create(
            Membership(id=new_id("mem"), organization=organization, account=person, role="member", created_at=begun)
            for person in people
        )
        made[organization.pk] = live(draw, organization, members)
    return made


def expected(year: Year, until: datetime) -> dict[tuple[str, datetime], dict[str, tuple[int, int, int]]]:
    """Return all invoices that the oracle expects."""
    months = [
        month
        for month in months_between(START - timedelta(days=60), until)
        if (month + 31 * seat_model.DAY).replace(day=1) <= until
    ]
    found = {(org_id, month): seat_model.invoice(models, month) for org_id, models in year.items() for month in months}
    return {key: lines for key, lines in found.items() if lines is not None}


def invoiced() -> dict[tuple[str, datetime], dict[str, tuple[int, int, int]]]:
    """Return all invoices in the database."""
    found: dict[tuple[str, datetime], dict[str, tuple[int, int, int]]] = {}
    for line in InvoiceLine.objects.select_related("invoice"):
        lines = found.setdefault((line.invoice.org_id, line.invoice.period_start), {})
        lines[line.product] = (line.price_microusd, line.seat_days, line.amount_microusd)
    return found


def test_a_year_is_invoiced_to_the_last_micro_usd(year: Year) -> None:
    draw = random.Random(7)
    now, collected_from = START, datetime(2027, 12, 1, tzinfo=UTC)
    while now < END + timedelta(days=3):
        seat_invoices.draft_all(now=now)
        invoices.issue_all(since=collected_from, now=now)
        now += timedelta(days=draw.choice([0, 1, 5, 17, 45, 100]), minutes=draw.randrange(60))
    seat_invoices.draft_all(now=now)
    invoices.issue_all(since=collected_from, now=now)
    should = expected(year, now - timedelta(hours=1))
    assert invoiced() == should
    assert len(should) > 400
    sums = {(one.org_id, one.period_start): one.total_microusd for one in Invoice.objects.all()}
    assert sums == {key: seat_model.total(lines.values()) for key, lines in should.items()}
    numbered = Invoice.objects.exclude(serial=None).order_by("serial")
    assert list(numbered.values_list("serial", flat=True)) == list(range(1, numbered.count() + 1))
    assert numbered.count() == sum(month >= collected_from for _, month in should)
    assert audit.findings() == []


def test_the_estimate_at_a_months_end_equals_the_invoice(year: Year) -> None:
    for month in months_between(START, END):
        end = (month + 31 * seat_model.DAY).replace(day=1)
        seat_invoices.draft_all(now=end + timedelta(hours=1))
        totals = dict(Invoice.objects.filter(period_start=month).values_list("org_id", "total_microusd"))
        for org_id in list(year)[:10]:
            last = seat_estimate.estimate(org_id, end - timedelta(microseconds=1))
            assert last.accrued_microusd == totals.get(org_id, 0)
            assert last.projected_microusd == totals.get(org_id, 0)


def test_an_estimate_counts_the_days_begun_so_far(year: Year) -> None:
    draw = random.Random(11)
    for org_id in draw.sample(list(year), 8):
        for month in months_between(START, END):
            now = a_time(draw, month, (month + 31 * seat_model.DAY).replace(day=1))
            found = {one.product: one for one in seat_estimate.estimate(org_id, now).products}
            for product, model in year[org_id].items():
                line, accrued = model.line(month), model.line(month, until=now)
                shown = found.get(product)
                assert (shown.projected_microusd if shown else 0) == (line[2] if line else 0)
                assert (shown.accrued_microusd if shown else 0) == (accrued[2] if accrued else 0)


def test_the_whole_of_it_is_recomputed_from_only_the_intervals(year: Year) -> None:
    seat_invoices.draft_all(now=END)
    first = invoiced()
    assert seat_invoices.draft_all(now=END) == 0
    with unguarded(), connection.cursor() as cursor:
        cursor.execute("DELETE FROM billing_invoice_line")
        cursor.execute("DELETE FROM billing_invoice")
    assert seat_invoices.draft_all(now=END) == len(first)
    assert invoiced() == first
    assert InvoiceLine.objects.aggregate(sum=Sum("amount_microusd"))["sum"] == sum(
        map(seat_model.total, (lines.values() for lines in first.values()))
    )
