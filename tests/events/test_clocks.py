"""Leases of a machine whose clock is a year ahead: they end when the database's clock says so, and the work goes on."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.core.mail.backends.locmem import EmailBackend
from django.utils import timezone
from pytest_django import Settings

from gateway.core.database.clock import database_now
from gateway.core.events.adapters.posting import Poster
from gateway.core.events.mail_worker import MailWorker
from gateway.core.events.models import Delivery, Endpoint, Mail
from gateway.core.events.operations import deliveries, mails
from gateway.core.events.worker import EventWorker
from tests.events.mailing import low
from tests.events.stage import ALICE, endpoint, happen
from tests.support.concurrency import PATIENCE_SECONDS, eventually
from tests.support.event_receiver import EventReceiver

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    right = timezone.now
    monkeypatch.setattr(timezone, "now", lambda: right() + timedelta(days=365))


class Looking(EmailBackend):
    """Looks at the lease of each mail while it is sent."""

    leases: list[Any] = []

    def send_messages(self, messages: Any) -> int:
        self.leases += Mail.objects.values_list("claimed_until", flat=True)
        return super().send_messages(messages)


def test_a_mail(with_mail: None, settings: Settings) -> None:
    settings.EMAIL_BACKEND = f"{__name__}.Looking"
    Looking.leases.clear()
    [one] = low()
    Mail.objects.filter(pk=one.pk).update(next_at=database_now())
    worker = MailWorker()
    worker.start()
    eventually(lambda: Mail.objects.filter(status="sent", sent_at__lte=database_now()).exists())
    worker.stop()
    [lease] = Looking.leases
    assert lease <= database_now() + mails.LEASE


@pytest.mark.usefixtures("plain_kinds")
def test_an_endpoint() -> None:
    seen = threading.Event()

    def wait(received: Any) -> tuple[int, bytes]:
        seen.wait(PATIENCE_SECONDS)
        return 200, b""

    with EventReceiver() as receiver:
        receiver.reply = wait
        endpoint(url=receiver.url)
        happen(owner=ALICE)
        worker = EventWorker(Poster())
        worker.start()
        try:
            eventually(lambda: Endpoint.objects.filter(claimed_until__isnull=False).exists())
            assert Endpoint.objects.filter(claimed_until__lte=database_now() + deliveries.LEASE).exists()
            seen.set()
            eventually(lambda: Delivery.objects.filter(status="delivered", delivered_at__lte=database_now()).exists())
        finally:
            seen.set()
            worker.stop()
            worker.join()
