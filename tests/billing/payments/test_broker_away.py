"""Without the message broker nothing is lost: what cannot be handed to a worker is done by the schedule's next run."""

import socketserver
import threading
from collections.abc import Iterator

import pytest
from django.utils import timezone

from billing import tasks
from billing.models import ProviderEvent
from gateway.celery import app
from tests.billing.payments.payer import USD, Payer, payments, status
from tests.support.stripe import FakeStripe


class HangsUp(socketserver.BaseRequestHandler):
    """A broker that hangs up on whoever connects, and counts them."""

    calls: list[object] = []

    def handle(self) -> None:
        """Count."""
        self.calls.append(self.client_address)


@pytest.fixture
def no_broker(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[object]]:
    """Send tasks to a broker that does not respond; return who tried."""
    HangsUp.calls.clear()
    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), HangsUp)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"redis://127.0.0.1:{server.server_address[1]}/0"
    monkeypatch.setitem(app.conf, "task_always_eager", False)
    for name in ("broker_url", "broker_read_url", "broker_write_url"):
        monkeypatch.setitem(app.conf, name, address)
    monkeypatch.setattr(app, "_pool", None)
    monkeypatch.setattr(app.amqp, "_producer_pool", None)
    yield HangsUp.calls
    app.pool.force_close_all()
    server.shutdown()
    server.server_close()


def test_an_event_is_taken_without_waiting_and_swept_once(
    payer: Payer, provider: FakeStripe, no_broker: list[object], caplog: pytest.LogCaptureFixture
) -> None:
    checkout = payer.begin()
    provider.pay(str(checkout.session_ref))
    assert {delivery.status for delivery in provider.webhooks.deliveries} == {200}
    waiting = ProviderEvent.objects.filter(handled_at=None)
    assert waiting.count() == len(provider.webhooks.deliveries)
    assert 1 <= len(no_broker) <= 2 * waiting.count()
    assert caplog.text.count("is left to the scheduled job") == waiting.count()
    assert (status(checkout), payer.money) == ("open", (0, 0, 0))
    for _ in range(2):
        tasks.reconcile_payments()
        assert (status(checkout), payments(checkout), payer.money) == ("paid", [5 * USD], (5 * USD, 0, 0))
    assert not waiting.exists()


@pytest.mark.usefixtures("no_broker")
def test_a_payment_is_found_where_the_events_are_lost_as_well(payer: Payer, provider: FakeStripe) -> None:
    checkout = payer.begin()
    provider.webhooks.hold()
    provider.pay(str(checkout.session_ref))
    type(checkout).objects.filter(pk=checkout.pk).update(next_check_at=timezone.now())
    assert tasks.reconcile_payments()["checkouts"] == 1
    assert payments(checkout) == [5 * USD]
