"""Deliveries: whose turn it is, what is due, and what becomes of an answer."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from standardwebhooks import Webhook

from gateway.core.events.adapters.posting import Answer
from gateway.core.events.models import Delivery, Endpoint, Event
from gateway.core.events.operations import deliveries, endpoints
from gateway.core.events.operations.deliveries import LEASE, Message, Turn
from gateway.core.events.rules.attempts import PAUSES
from gateway.core.events.rules.secrets import new_secret
from tests.events.stage import ALICE, BOB, endpoint, happen, spread
from tests.support.concurrency import at_once
from tests.support.event_receiver import SECRET

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("plain_kinds")]

LATER = datetime(2100, 1, 1, tzinfo=UTC)
TAKEN, BROKEN, SILENT, GONE = (
    Answer(204),
    Answer(500, "oh"),
    Answer(None, error="it did not answer in time"),
    Answer(410),
)


def claim(now: datetime = LATER, *, failing: bool = False, limit: int = 100) -> list[Turn]:
    return deliveries.claim(now=now, limit=limit, failing=failing)


def due(turn: Turn, now: datetime = LATER) -> list[Message]:
    return deliveries.due(turn, now=now, limit=100)


def one() -> tuple[Turn, Message]:
    """Return the turn and the message of a new event."""
    endpoint()
    happen()
    spread()
    [turn] = claim()
    [message] = due(turn)
    return turn, message


def row() -> dict[str, Any]:
    columns = ("status", "attempts", "next_at", "status_code", "answer", "error", "delivered_at")
    return dict(Delivery.objects.values(*columns).get())


def test_what_is_due_is_signed() -> None:
    turn, message = one()
    target = deliveries.target_of(turn, now=LATER)
    assert target is not None
    assert (target.url, target.secrets) == ("https://studio.example/hooks", (SECRET,))
    headers = message.headers(target.secrets, timestamp=int(datetime.now(UTC).timestamp()))
    assert Webhook(SECRET).verify(message.body, headers)["id"] == headers["webhook-id"] == Event.objects.get().public_id
    assert headers["Content-Type"] == "application/json"


def test_an_answer_of_2xx_delivers() -> None:
    turn, message = one()
    assert deliveries.note(turn, message, Answer(299, "thanks", milliseconds=7), now=LATER)
    expected = {"status": "delivered", "attempts": 1, "next_at": None, "delivered_at": LATER, "error": ""}
    assert row() == {**expected, "status_code": 299, "answer": "thanks"}
    assert due(turn) == []


def test_each_attempt_waits_as_long_as_promised() -> None:
    assert [pause.total_seconds() for pause in PAUSES[:5]] == [5, 30, 300, 1800, 7200]
    assert sum(PAUSES[5:], timedelta()) == timedelta(days=3)
    assert set(PAUSES[5:]) == {timedelta(hours=6)}
    turn, _ = one()
    now = LATER
    bodies = set()
    for number, pause in enumerate(PAUSES, start=1):
        [message] = due(turn, now)
        bodies.add(message.body)
        deliveries.note(turn, message, SILENT if number % 2 else BROKEN, now=now)
        assert (row()["status"], row()["attempts"], row()["next_at"]) == ("due", number, now + pause)
        assert due(turn, now + pause - timedelta(microseconds=1)) == []
        now += pause
    [message] = due(turn, now)
    deliveries.note(turn, message, BROKEN, now=now)
    assert (row()["status"], row()["attempts"], row()["next_at"]) == ("failed", len(PAUSES) + 1, None)
    assert len(bodies) == 1


def test_what_failed_is_not_forgotten_until_a_success() -> None:
    turn, message = one()
    deliveries.note(turn, message, SILENT, now=LATER)
    found = Endpoint.objects.get()
    assert found.failing_since == LATER
    [again] = due(turn, LATER + PAUSES[0])
    deliveries.note(turn, again, BROKEN, now=LATER + PAUSES[0])
    found.refresh_from_db()
    assert found.failing_since == LATER
    [again] = due(turn, LATER + timedelta(days=1))
    deliveries.note(turn, again, TAKEN, now=LATER + timedelta(days=1))
    found.refresh_from_db()
    assert found.failing_since is None


def test_410_disables_the_endpoint() -> None:
    endpoint("other", "usage.*", product="studio", enabled=False)
    turn, message = one()
    happen()
    spread()
    assert not deliveries.note(turn, message, GONE, now=LATER)
    found = Endpoint.objects.get(name="studio")
    assert (found.enabled, found.disabled_reason) == (False, deliveries.GONE_WORDS)
    assert sorted(Delivery.objects.values_list("status", "status_code")) == [("due", None), ("failed", 410)]
    assert deliveries.target_of(turn, now=LATER) is None
    deliveries.release(turn, now=LATER)
    assert claim() == []
    happen()
    spread()
    assert Delivery.objects.count() == 2
    found.enabled = True
    endpoints.save(found)
    assert found.disabled_reason == ""
    assert len(due(claim()[0])) == 1


def test_an_answer_that_comes_twice_is_noted_once() -> None:
    turn, message = one()
    deliveries.note(turn, message, BROKEN, now=LATER)
    before = row()
    deliveries.note(turn, message, TAKEN, now=LATER)
    assert row() == before


def test_an_answer_to_what_is_to_be_sent_again_is_not_noted() -> None:
    turn, message = one()
    deliveries.note(turn, message, BROKEN, now=LATER)
    [message] = due(turn, LATER + PAUSES[0])
    deliveries.send_again(Delivery.objects.all(), now=LATER)
    deliveries.note(turn, message, TAKEN, now=LATER)
    assert (row()["status"], row()["attempts"], row()["next_at"]) == ("due", 0, LATER)


@pytest.mark.parametrize("answer", [TAKEN, GONE, BROKEN], ids=repr)
def test_what_was_sent_can_be_sent_again(answer: Answer) -> None:
    turn, message = one()
    deliveries.note(turn, message, answer, now=LATER)
    Endpoint.objects.update(enabled=True)
    assert deliveries.send_again(Delivery.objects.all(), now=LATER) == 1
    [again] = due(turn)
    assert (again.body, again.public_id, again.attempts) == (message.body, message.public_id, 0)


def test_a_disabled_endpoint_gets_nothing_again() -> None:
    turn, message = one()
    deliveries.note(turn, message, TAKEN, now=LATER)
    Endpoint.objects.update(enabled=False)
    before = row()
    assert deliveries.send_again(Delivery.objects.all(), now=LATER) == 0
    assert row() == before


def test_one_worker_at_a_time_has_an_endpoint() -> None:
    turn, _ = one()
    assert claim() == []
    assert claim(LATER + LEASE - timedelta(microseconds=1)) == []
    [second] = claim(LATER + LEASE)
    deliveries.release(turn, now=LATER)
    assert claim(LATER + LEASE) == []
    deliveries.release(second, now=LATER + LEASE)
    assert len(claim(LATER + LEASE)) == 1


@pytest.mark.django_db(transaction=True)
def test_workers_at_once_claim_each_endpoint_once() -> None:
    for number in range(12):
        endpoint(f"e{number}", product="studio")
    happen()
    spread()
    claimed = at_once(*[lambda: claim(limit=4)] * 4)
    names = [turn.name for turns in claimed for turn in turns]
    assert len(names) == len(set(names))
    assert sorted(names + [turn.name for turn in claim()]) == sorted(f"e{number}" for number in range(12))


def test_turns_go_round() -> None:
    for name in ("a", "b", "c"):
        endpoint(name, product="studio")
    happen()
    spread()
    order = []
    for second in range(6):
        [turn] = claim(limit=1)
        order.append(turn.name)
        deliveries.release(turn, now=LATER + timedelta(seconds=second))
    assert order == ["a", "b", "c"] * 2


def test_those_that_fail_have_turns_of_their_own() -> None:
    endpoint("sound", product="studio")
    endpoint("failing", product="studio", failing_since=LATER)
    happen()
    spread()
    assert [turn.name for turn in claim(failing=False)] == ["sound"]
    assert [turn.name for turn in claim(failing=True)] == ["failing"]


def test_what_is_due_comes_in_the_order_of_events() -> None:
    endpoint()
    events = [happen(owner=owner) for owner in (ALICE, BOB, ALICE, BOB, ALICE)]
    spread()
    [turn] = claim()
    assert [message.public_id for message in due(turn)] == [event.public_id for event in events]
    assert len(deliveries.due(turn, now=LATER, limit=2)) == 2


def test_both_secrets_sign_for_a_day() -> None:
    turn, _ = one()
    new = new_secret()
    endpoints.rotate(turn.endpoint_id, secret=new, now=LATER)
    day = timedelta(hours=24)
    for now, secrets in (
        (LATER, (new, SECRET)),
        (LATER + day - timedelta(seconds=1), (new, SECRET)),
        (LATER + day, (new,)),
    ):
        target = deliveries.target_of(turn, now=now)
        assert target is not None
        assert target.secrets == secrets
    endpoints.rotate(turn.endpoint_id, secret=new, now=LATER + day)
    assert Endpoint.objects.get().previous_secret == SECRET
    with pytest.raises(ValueError):
        endpoints.rotate(turn.endpoint_id, secret="whsec_short", now=LATER)
    assert Endpoint.objects.get().secret == new


def test_old_events_are_deleted_with_their_deliveries() -> None:
    turn, message = one()
    happen()
    assert deliveries.purge(now=datetime.now(UTC) + timedelta(days=29)) == 0
    assert deliveries.purge(now=datetime.now(UTC) + timedelta(days=31)) == 1
    assert Delivery.objects.count() == 0
    [waiting] = Event.objects.all()
    assert waiting.fanned_out_at is None
    assert deliveries.note(turn, message, TAKEN, now=LATER)
