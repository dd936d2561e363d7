"""A worker killed between any two lines of its code loses no event, and leaves none behind."""

import os
import sys

import pytest

from gateway.core.events.models import Delivery, Endpoint, Event
from gateway.core.events.worker import EventWorker
from tests.events.stage import endpoint
from tests.support.concurrency import eventually
from tests.support.database import database_url
from tests.support.event_receiver import EventReceiver
from tests.support.forked import run

pytestmark = pytest.mark.django_db(transaction=True)

STEP = 10
"""How many lines are between two deaths."""


def test_a_worker_killed_at_any_line_delivers_each_event_at_least_once() -> None:
    environment = {**os.environ, "DATABASE_URL": database_url()}
    with EventReceiver() as receiver:
        endpoint(url=receiver.url)
        command = [sys.executable, "-m", "tests.faults.crashing_events", str(STEP)]
        killed = int(run(command, check=True, env=environment).stdout)
        Endpoint.objects.update(claimed_until=None)
        worker = EventWorker()
        worker.start()
        try:
            eventually(lambda: not Delivery.objects.exclude(status="delivered").exists())
            eventually(lambda: not Event.objects.filter(fanned_out_at=None).exists())
        finally:
            worker.stop()
            worker.join()
    assert killed > 12
    recorded = list(Event.objects.order_by("pk").values_list("public_id", flat=True))
    assert len(recorded) == killed + 1
    assert list(Delivery.objects.order_by("pk").values_list("event__public_id", "attempts")) == [
        (public_id, 1) for public_id in recorded
    ]
    arrived = [event["id"] for event in receiver.events]
    assert set(arrived) == set(recorded)
    assert len(arrived) <= len(recorded) + killed
    assert list(dict.fromkeys(arrived)) == recorded
