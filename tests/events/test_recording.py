"""Recording events: numbered per owner, in the caller's transaction, one after another."""

from datetime import UTC, datetime

import pytest
from django.db import connection, transaction

from gateway.core.events.models import Event, EventOwner
from gateway.core.events.operations.recording import record
from gateway.core.events.registry import EventKind, kind_of, register

NOW = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)


def low(key: str = "did:web:a.example", **more: object) -> int:
    """Record an event of an account."""
    values = {"owner_kind": "account", "owner_key": key, "type": "wallet.low", "data": {"n": 1}, "now": NOW, **more}
    return record(**values)  # type: ignore[arg-type]


@pytest.mark.django_db
def test_recording_numbers_the_events_of_each_owner() -> None:
    ids = [low(), low("did:web:b.example"), low(), low()]
    assert ids == sorted(ids)
    assert list(Event.objects.filter(pk__in=ids).order_by("id").values_list("owner_key", "sequence")) == [
        ("did:web:a.example", 1),
        ("did:web:b.example", 1),
        ("did:web:a.example", 2),
        ("did:web:a.example", 3),
    ]
    assert EventOwner.objects.get(pk=("account", "did:web:a.example")).sequence == 3


@pytest.mark.django_db
def test_recording_writes_what_was_said() -> None:
    event = Event.objects.get(pk=low(type="seat.assigned", data={"who": ["ä\u0001", None]}, product="studio"))
    assert (event.type, event.product, event.data) == ("seat.assigned", "studio", {"who": ["ä\u0001", None]})
    assert (event.created_at, event.fanned_out_at, event.body) == (NOW, None, None)
    assert event.public_id.startswith("evt_")
    assert len(event.public_id) == 36


@pytest.mark.django_db
def test_recording_refuses_unknown_types() -> None:
    with pytest.raises(ValueError, match=r"wallet\.lwo"):
        low(type="wallet.lwo")
    assert not Event.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_recording_is_undone_with_its_transaction() -> None:
    with pytest.raises(transaction.TransactionManagementError):
        low()
    with transaction.atomic():
        low()
        transaction.set_rollback(True)
    with transaction.atomic():
        low()
    assert list(Event.objects.values_list("sequence", flat=True)) == [1]


@pytest.mark.django_db
def test_recording_without_a_time_takes_the_database_s() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT events_record('organization', 'org_1', 'invoice.paid', '{}'), clock_timestamp()")
        found, now = cursor.fetchone()
    assert abs((Event.objects.get(pk=found).created_at - now).total_seconds()) < 60


def test_registering_takes_listed_types_only() -> None:
    with pytest.raises(ValueError, match=r"wallet\.lwo"):
        register(EventKind("wallet.lwo"))
    with pytest.raises(ValueError, match=r"payment\.failed is not listed as public"):
        register(EventKind("payment.failed"))


def test_a_type_that_nobody_registered_goes_to_its_product() -> None:
    kind = kind_of("usage.settled")
    event = Event(type="usage.settled", product="studio", data={"a": 1})
    assert kind.is_public
    assert set(kind.audience(event)) == {"studio"}
    assert kind.body(event) == {"a": 1}
    assert set(kind.audience(Event(type="wallet.low", data={}))) == set()
    assert kind.mails(event) == []
