"""The jobs in separate processes: concurrent, and killed between database writes and provider requests."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta

import pytest

from billing.models import Invoice, InvoicePayment
from billing.queries import audit
from tests.organizations.tenant import LAST_MONTH, PRICE, Tenant
from tests.support.concurrency import eventually
from tests.support.database import database_url
from tests.support.forked import Forked
from tests.support.stripe import FakeStripe

pytestmark = pytest.mark.django_db(transaction=True)

INTENTS = "/v1/payment_intents"
MINUTE = timedelta(minutes=1)


@pytest.fixture
def tenants(provider: FakeStripe) -> Iterator[list[Tenant]]:
    """Organizations that owe last month's seats, each with a payment method. The ledger is audited after the test."""
    tenants = [Tenant(provider, f"owner{number}", seats=1) for number in range(6)]
    for tenant in tenants:
        tenant.save_method()
    yield tenants
    assert audit.findings() == []


@contextmanager
def job(provider: FakeStripe, tenant: Tenant) -> Iterator["subprocess.Popen[str]"]:
    """Start a process that waits to run the jobs as of the tenant's time."""
    environment = {
        **os.environ,
        "DATABASE_URL": database_url(),
        "STRIPE_SECRET_KEY": provider.secret_key,
        "STRIPE_API_BASE": provider.origin,
    }
    command = [sys.executable, "-m", "tests.organizations.seat_jobs", tenant.now.isoformat(), LAST_MONTH[0].isoformat()]
    pipe = subprocess.PIPE
    with Forked(command, env=environment, text=True, stdin=pipe, stdout=pipe) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


def let_go(process: "subprocess.Popen[str]") -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def numbers() -> list[int | None]:
    return list(Invoice.objects.order_by("serial").values_list("serial", flat=True))


def posts(provider: FakeStripe) -> int:
    return sum((one.method, one.path) == ("POST", INTENTS) for one in provider.requests)


def test_jobs_at_once_make_one_invoice_and_one_charge_of_each_month(
    tenants: list[Tenant], provider: FakeStripe
) -> None:
    with ExitStack() as stack:
        running = [stack.enter_context(job(provider, tenants[0])) for _ in range(3)]
        for process in running:
            let_go(process)
        assert [process.stdout and process.stdout.readline() for process in running] == ["done\n"] * 3
    assert numbers() == list(range(1, 7))
    assert {one.org_id for one in Invoice.objects.all()} == {tenant.id for tenant in tenants}
    assert set(Invoice.objects.values_list("status", "total_microusd")) == {("paid", PRICE)}
    assert len(provider.charges) == 6
    assert InvoicePayment.objects.count() == 6


@pytest.mark.parametrize("works", [True, False])
def test_killed_during_the_providers_request_a_month_is_charged_once(
    tenants: list[Tenant], provider: FakeStripe, works: bool
) -> None:
    """SIGKILL after the invoice is issued and the charge requested, whether or not the provider executes it."""
    first = tenants[0]
    provider.script(method="POST", path=INTENTS, works=works, status=0 if works else 500, delay_seconds=30)
    with job(provider, first) as process:
        let_go(process)
        eventually(lambda: posts(provider) == 1)
        if works:
            eventually(lambda: provider.charges)
    assert process.returncode == -9
    assert set(Invoice.objects.values_list("status", flat=True)) == {"open"}
    [left] = InvoicePayment.objects.all()
    assert (left.status, left.payment_ref) == ("creating", None)
    first.run(MINUTE)
    assert set(Invoice.objects.values_list("status", flat=True)) == {"paid"}
    assert numbers() == list(range(1, 7))
    assert len(provider.charges) == 6
    assert list(InvoicePayment.objects.filter(invoice=left.invoice).values_list("pk", "status")) == [
        (left.pk, "succeeded")
    ]


def test_a_run_killed_before_collection_is_continued_by_the_next(tenants: list[Tenant], provider: FakeStripe) -> None:
    """SIGKILL between issue and payment, at the provider request for the saved payment method."""
    provider.script(method="GET", path="/v1/checkout/sessions/*", delay_seconds=30)
    before = len(provider.requests)
    with job(provider, tenants[0]) as process:
        let_go(process)
        eventually(lambda: len(provider.requests) > before)
    assert set(Invoice.objects.values_list("status", flat=True)) == {"open"}
    assert not InvoicePayment.objects.exists()
    tenants[0].run()
    assert set(Invoice.objects.values_list("status", flat=True)) == {"paid"}
    assert len(provider.charges) == 6
