"""Sending, from the fan-out to the product's server: in order, at least once, and no endpoint delays another."""

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone
from standardwebhooks import Webhook

from gateway.core.events import dispatcher
from gateway.core.events.adapters.posting import Poster
from gateway.core.events.models import Delivery, Endpoint, Event
from gateway.core.events.operations import endpoints
from gateway.core.events.operations.recording import record
from gateway.core.events.worker import EventWorker
from tests.events.stage import ALICE, BOB, endpoint, happen
from tests.support.concurrency import PATIENCE_SECONDS, eventually
from tests.support.database import connect
from tests.support.event_receiver import SECRET, EventReceiver, Received, Reply

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("plain_kinds")]

BREAK = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
 WHERE datname = current_database() AND backend_type = 'client backend' AND pid NOT IN (pg_backend_pid(), %s)
"""

MANY = """
WITH made AS (
  INSERT INTO events_event (public_id, owner_kind, owner_key, sequence, type, product, data, body, fanned_out_at)
  SELECT 'evt_' || n, 'account', 'did:web:studio.example:' || n %% 20, n, 'usage.settled', 'studio', '{}', '{}', now()
    FROM generate_series(%s, %s) n
  RETURNING id)
INSERT INTO events_delivery (event_id, endpoint_id, status, attempts, next_at, answer, error)
SELECT id, %s, 'due', 0, now(), '', '' FROM made
"""


@pytest.fixture
def receivers() -> Iterator[Any]:
    """Start receivers, which end with the test."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(EventReceiver())


@contextmanager
def working(count: int = 1, **settings: Any) -> Iterator[None]:
    """Run workers until the context ends."""
    workers = [EventWorker(Poster(**settings)) for _ in range(count)]
    try:
        for worker in workers:
            worker.start()
        yield
    finally:
        for worker in workers:
            worker.stop()
        for worker in workers:
            worker.join()


def all_delivered(count: int) -> bool:
    return Delivery.objects.filter(status="delivered").count() == count


def happen_often(count: int, owners: int = 1) -> None:
    """Record events of a few accounts in one transaction."""
    with transaction.atomic():
        for number in range(count):
            record(
                owner_kind="account",
                owner_key=f"did:web:studio.example:{number % owners}",
                type="usage.settled",
                data={"number": number},
                product="studio",
            )


def test_an_event_arrives_signed(receivers: Any) -> None:
    receiver = receivers()
    receiver.reply = lambda received: (200, b"thanks")
    endpoint(url=receiver.url)
    with working():
        event = happen(usageId="use_1")
        eventually(lambda: all_delivered(1))
    [received] = receiver.received
    assert Webhook(SECRET).verify(received.body, received.headers) == received.event
    assert received.event["id"] == received.headers["webhook-id"] == event.public_id
    assert received.event["data"] == {"usageId": "use_1"}
    [delivery] = Delivery.objects.all()
    assert (delivery.status_code, delivery.answer, delivery.attempts, delivery.error) == (200, "thanks", 1, "")


def test_two_workers_send_the_events_of_an_owner_in_their_order(receivers: Any) -> None:
    receiver = receivers()
    endpoint(url=receiver.url)
    with working(2):
        for _ in range(7):
            happen_often(30, owners=7)
        eventually(lambda: all_delivered(210))
    numbers: dict[str, list[int]] = {}
    owners = dict(Event.objects.values_list("public_id", "owner_key"))
    for event in receiver.events:
        numbers.setdefault(owners[event["id"]], []).append(event["sequence"])
    assert len(numbers) == 7
    assert {owner: found for owner, found in numbers.items() if found != list(range(1, len(found) + 1))} == {}
    assert set(Delivery.objects.values_list("attempts", flat=True)) == {1}


def test_a_slow_endpoint_delays_no_other(receivers: Any) -> None:
    slow, fast, gone = receivers(), receivers(), threading.Event()

    def wait(client: socket.socket) -> None:
        gone.wait()

    slow.reply = lambda received: wait
    endpoint("slow", product="studio", url=slow.url)
    endpoint("fast", product="studio", url=fast.url)
    with working():
        happen_often(50, owners=10)
        eventually(lambda: len(slow.received) == dispatcher.AT_ONCE and len(fast.received) == 50)
        happen_often(50, owners=10)
        eventually(lambda: len(fast.received) == 100)
        assert len(slow.received) == dispatcher.AT_ONCE
        assert not Delivery.objects.filter(endpoint__name="slow").exclude(attempts=0).exists()
        gone.set()


def test_more_dead_endpoints_than_places_delay_no_other(receivers: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatcher, "TURNS_MAX", 2)
    dead, fast, gone = receivers(), receivers(), threading.Event()

    def wait(client: socket.socket) -> None:
        gone.wait()

    dead.reply = lambda received: wait
    for number in range(5):
        endpoint(f"dead{number}", product="studio", url=dead.url, failing_since=timezone.now())
    endpoint("fast", product="studio", url=fast.url)
    with working():
        happen()
        eventually(lambda: len(dead.received) == 2 and len(fast.received) == 1)
        happen()
        eventually(lambda: len(fast.received) == 2)
        assert len(dead.received) == 2
        gone.set()


def test_a_failed_event_is_sent_again_with_the_same_bytes(receivers: Any) -> None:
    receiver = receivers()
    replies: list[Reply] = [500, (302, b""), 204]
    receiver.reply = lambda received: replies.pop(0)
    endpoint(url=receiver.url)
    with working():
        happen()
        eventually(lambda: Delivery.objects.filter(attempts=1).update(next_at=timezone.now()))
        eventually(lambda: Delivery.objects.filter(attempts=2).update(next_at=timezone.now()))
        eventually(lambda: all_delivered(1))
    bodies = {(received.headers["webhook-id"], received.body) for received in receiver.received}
    assert (len(receiver.received), len(bodies)) == (3, 1)
    for received in receiver.received:
        Webhook(SECRET).verify(received.body, received.headers)


def test_an_event_that_fails_does_not_delay_the_next(receivers: Any) -> None:
    receiver = receivers()
    receiver.reply = lambda received: 500 if received.event["sequence"] == 1 else 204
    endpoint(url=receiver.url)
    with working():
        happen_often(3)
        eventually(lambda: all_delivered(2))
    failed = Delivery.objects.exclude(status="delivered").get()
    assert (failed.attempts, failed.status, failed.event.sequence) == (1, "due", 1)


def test_410_ends_the_turn(receivers: Any) -> None:
    receiver = receivers()
    receiver.reply = lambda received: 410
    endpoint(url=receiver.url)
    with working():
        happen_often(30)
        eventually(lambda: Endpoint.objects.filter(enabled=False).exists())
    assert len(receiver.received) == 1
    assert Delivery.objects.filter(status="due", attempts=0).count() == 29


def test_many_due_deliveries_are_sent_a_hundred_at_a_time(receivers: Any) -> None:
    receiver = receivers()
    endpoint(url=receiver.url)
    with working():
        happen_often(350, owners=20)
        eventually(lambda: all_delivered(350))
    assert len({received.headers["webhook-id"] for received in receiver.received}) == len(receiver.received) == 350


def test_ten_thousand_due_deliveries_delay_no_other_endpoint(receivers: Any) -> None:
    slow, quick = receivers(), receivers()
    over = threading.Event()

    def wait(received: Received) -> Reply:
        over.wait(PATIENCE_SECONDS)
        return 200, b""

    slow.reply = wait
    crowded, other = endpoint(url=slow.url), endpoint("other", url=quick.url, product="courier")
    with connection.cursor() as cursor:
        for first in range(1, 10_000, 1_000):  # one statement would take longer than a busy database may
            cursor.execute(MANY, [first, first + 999, crowded.pk])
    assert Delivery.objects.filter(endpoint=crowded, status="due").count() == 10_000
    try:
        with working():
            eventually(lambda: slow.received)
            happen(owner=BOB, product="courier")
            eventually(lambda: Delivery.objects.filter(endpoint=other, status="delivered").exists())
            assert Delivery.objects.filter(endpoint=crowded, status="due").count() == 10_000
            over.set()
    finally:
        over.set()


def test_an_endpoint_whose_secret_cannot_be_read_delays_no_other(
    receivers: Any, caplog: pytest.LogCaptureFixture
) -> None:
    receiver = receivers()
    endpoint("broken", product="studio", url=receiver.url)
    endpoint("sound", product="studio", url=receiver.url)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE events_endpoint SET secret = 'gAAAAbroken' WHERE name = 'broken'")
    with working():
        happen()
        eventually(lambda: all_delivered(1))
        eventually(lambda: [one for one in caplog.records if "broken" in one.getMessage()])
    assert Delivery.objects.get(endpoint__name="broken").attempts == 0


def test_nothing_is_lost_while_the_database_breaks_connections(receivers: Any) -> None:
    """A crash of the database, as workers see it: what they were about to record is not recorded."""
    receiver = receivers()
    endpoint(url=receiver.url)
    ours = connection.connection.info.backend_pid
    receiver.reply = lambda received: break_connections(ours)
    with working(2):
        happen_often(12, owners=3)
        eventually(lambda: len(receiver.received) >= 6 or not end_leases())
        receiver.reply = lambda received: 204
        eventually(lambda: all_delivered(12) or not end_leases())
    assert {event["id"] for event in receiver.events} == set(Event.objects.values_list("public_id", flat=True))


def end_leases() -> int:
    """End the leases of turns that could not end them, half a minute early; return how many endpoints there are."""
    return Endpoint.objects.update(claimed_until=None)


def break_connections(ours: int) -> Reply:
    """End all sessions of this database but the test's."""
    with connect(autocommit=True) as server:
        server.execute(BREAK, [ours])
    return 204


def test_both_secrets_verify_during_a_rotation(receivers: Any) -> None:
    receiver = receivers()
    one = endpoint(url=receiver.url)
    new = "whsec_" + "A" * 32
    endpoints.rotate(one.pk, secret=new, now=timezone.now())
    with working():
        happen(owner=BOB)
        eventually(lambda: all_delivered(1))
    [received] = receiver.received
    assert Webhook(SECRET).verify(received.body, received.headers) == Webhook(new).verify(
        received.body, received.headers
    )


def test_a_worker_whose_lease_ended_repeats_and_loses_nothing(receivers: Any) -> None:
    """A worker that stood still: another one sends the same, and one answer is recorded."""
    receiver, go_on = receivers(), threading.Event()

    def late(received: Received) -> Reply:
        if len(receiver.received) == 1:
            go_on.wait()
        return 204

    receiver.reply = late
    endpoint(url=receiver.url)
    with working(2):
        happen(owner=ALICE)
        eventually(lambda: len(receiver.received) == 1)
        Endpoint.objects.update(claimed_until=timezone.now())
        eventually(lambda: all_delivered(1))
        go_on.set()
    assert len(receiver.received) == 2
    assert Delivery.objects.get().attempts == 1
