"""Each process's picture of the signing keys."""

import asyncio
import threading
import time

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from accounts.models import SigningKey
from accounts.operations import keyring as module
from accounts.operations import signing_keys
from accounts.operations.keyring import Keyring
from gateway.contract.errors import NotReady
from tests.support.leftovers import connect


@pytest.fixture
def ring() -> Keyring:
    return Keyring()


@pytest.mark.django_db
def test_a_picture_is_kept_for_its_time_to_live(ring: Keyring, monkeypatch: pytest.MonkeyPatch) -> None:
    first = ring.picture()
    signing_keys.rotate(now=timezone.now())
    assert ring.picture() is first
    monkeypatch.setattr(module, "TTL_SECONDS", 0.0)
    monkeypatch.setattr(module, "RETRY_SECONDS", 0.0)
    assert ring.picture().signing_kid != first.signing_kid


@pytest.mark.django_db
def test_an_unknown_key_renews_the_picture_at_most_once_a_second(
    ring: Keyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    ring.picture()
    added = signing_keys.rotate(now=timezone.now())
    pending = SigningKey.objects.get(state="pending")
    assert ring.verifying_key(added.kid) is not None
    assert ring.verifying_key(pending.kid) is None  # too soon after the first look
    monkeypatch.setattr(module, "RETRY_SECONDS", 0.0)
    assert ring.verifying_key(pending.kid) is not None
    assert ring.verifying_key("made-up") is None


@pytest.mark.parametrize("kid", [None, 1, True, [], {}, ["x"]])
def test_a_key_id_that_is_no_text_is_unknown(ring: Keyring, kid: object) -> None:
    assert ring.verifying_key(kid) is None


@pytest.mark.django_db
def test_a_short_absence_of_the_database_is_no_event(ring: Keyring, monkeypatch: pytest.MonkeyPatch) -> None:
    picture = ring.picture()
    monkeypatch.setattr(module, "TTL_SECONDS", 0.0)
    monkeypatch.setattr(module, "RETRY_SECONDS", 0.0)
    monkeypatch.setattr(signing_keys, "ensure_active_key", refuse)
    assert ring.picture() is picture
    monkeypatch.setattr(module, "STALE_MAX_SECONDS", 0.0)
    with pytest.raises(NotReady):
        ring.picture()


@pytest.mark.django_db(transaction=True)
def test_beside_an_event_loop_the_first_picture_is_waited_for(ring: Keyring) -> None:
    async def look() -> str:
        return ring.picture().signing_kid

    assert asyncio.run(look()) == SigningKey.objects.get(state="active").kid


@pytest.mark.django_db(transaction=True)
def test_beside_an_event_loop_an_old_picture_serves_while_a_new_one_is_made(
    ring: Keyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = ring.picture()
    signing_keys.rotate(now=timezone.now())
    monkeypatch.setattr(module, "TTL_SECONDS", 0.0)
    monkeypatch.setattr(module, "RETRY_SECONDS", 0.0)

    async def look() -> str:
        assert ring.picture() is first
        for _ in range(200):
            await asyncio.sleep(0.02)
            if ring._picture is not first:
                break
        return ring.picture().signing_kid

    assert asyncio.run(look()) != first.signing_kid


@pytest.mark.django_db(transaction=True)
def test_threads_share_one_picture(ring: Keyring) -> None:
    seen: list[object] = []

    def look() -> None:
        seen.append(ring.picture())
        connection.close()

    threads = [threading.Thread(target=look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 8
    assert len(set(map(id, seen))) == 1


@pytest.mark.django_db
def test_looking_up_a_key_costs_next_to_nothing(ring: Keyring) -> None:
    kid = ring.picture().signing_kid
    began = time.perf_counter()
    for _ in range(10_000):
        ring.verifying_key(kid)
    assert time.perf_counter() - began < 1.0


def refuse(*, now: object) -> None:
    raise OperationalError("away")


@pytest.mark.django_db
def test_a_failed_read_is_tried_again_by_the_next_request(ring: Keyring, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as away:
        away.setattr(signing_keys, "ensure_active_key", refuse)
        with pytest.raises(NotReady):
            ring.picture()
    assert ring.picture().signing_kid


@pytest.mark.django_db(transaction=True)
def test_an_event_loop_stands_still_once_for_a_database_that_does_not_answer(ring: Keyring) -> None:
    async def look() -> float:
        began = time.monotonic()
        with pytest.raises(NotReady):
            ring.picture()
        return time.monotonic() - began

    async def look_often() -> list[float]:
        return [await look() for _ in range(6)]

    with connect() as other:
        other.execute("BEGIN")
        other.execute("LOCK TABLE accounts_signing_key IN ACCESS EXCLUSIVE MODE")
        seconds = asyncio.run(look_often())
        other.rollback()
    assert max(seconds) < 1.5
    assert sum(seconds) < 2.0
    assert ring.picture().signing_kid
