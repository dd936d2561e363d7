"""The cache of signing keys in each process."""

import asyncio
import time
from collections.abc import Iterator

import pytest
from django.db import OperationalError
from django.utils import timezone

from accounts.models import SigningKey
from accounts.operations import keyring as module
from accounts.operations import signing_keys
from accounts.operations.keyring import Keyring, KeysOutdated, SigningKeys
from gateway.core.contract.errors import NotReady
from gateway.core.runtime import snapshots
from tests.support.concurrency import PATIENCE_SECONDS, at_once
from tests.support.database import connect


@pytest.fixture
def ring() -> Keyring:
    return Keyring()


@pytest.fixture(autouse=True)
def no_thread_is_left(ring: Keyring) -> Iterator[None]:
    yield
    ring._thread.shutdown()


@pytest.fixture
def always_due(ring: Keyring, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ring, "fresh_seconds", 0.0)
    monkeypatch.setattr(module, "RETRY_SECONDS", 0.0)


@pytest.fixture
def not_due(ring: Keyring, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep cached keys from becoming due within a test, however slow the machine."""
    assert (module.FRESH_SECONDS, module.RETRY_SECONDS) == (5.0, 1.0)
    monkeypatch.setattr(ring, "fresh_seconds", PATIENCE_SECONDS)
    monkeypatch.setattr(module, "RETRY_SECONDS", PATIENCE_SECONDS)


@pytest.mark.django_db
@pytest.mark.usefixtures("not_due")
def test_keys_are_cached_while_they_are_fresh(ring: Keyring, request: pytest.FixtureRequest) -> None:
    first = ring.current_sync()
    signing_keys.rotate(now=timezone.now())
    assert ring.current_sync() is first
    request.getfixturevalue("always_due")
    assert ring.current_sync().signing_kid != first.signing_kid


@pytest.mark.django_db
@pytest.mark.usefixtures("not_due")
def test_an_unknown_key_asks_for_newer_keys_at_most_once_a_second(
    ring: Keyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    ring.current_sync()
    signing_keys.rotate(now=timezone.now())
    pending = SigningKey.objects.get(state="pending")
    assert ring.verifying_key(pending.kid) is None  # too soon after the first look
    monkeypatch.setattr(module, "RETRY_SECONDS", 0.0)
    with pytest.raises(KeysOutdated):
        ring.verifying_key(pending.kid)
    ring.renew_sync()
    assert ring.verifying_key(pending.kid) is not None
    with pytest.raises(KeysOutdated):
        ring.verifying_key("made-up")


@pytest.mark.parametrize("kid", [None, 1, True, [], {}, ["x"]])
def test_a_key_id_that_is_no_text_is_unknown(ring: Keyring, kid: object) -> None:
    assert ring.verifying_key(kid) is None


@pytest.mark.django_db
@pytest.mark.usefixtures("always_due")
def test_a_short_absence_of_the_database_is_no_event(ring: Keyring, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = ring.current_sync()
    monkeypatch.setattr(signing_keys, "ensure_active_key", refuse)
    assert ring.current_sync() is keys
    monkeypatch.setattr(ring, "usable_seconds", 0.0)
    with pytest.raises(NotReady):
        ring.current_sync()


@pytest.mark.django_db(transaction=True)
def test_beside_an_event_loop_the_first_keys_are_waited_for(ring: Keyring) -> None:
    assert asyncio.run(ring.current()).signing_kid == SigningKey.objects.get(state="active").kid


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("always_due")
def test_beside_an_event_loop_old_keys_serve_while_new_ones_are_read(ring: Keyring) -> None:
    async def look_twice() -> tuple[SigningKeys, SigningKeys]:
        now = await ring.current()
        await ring.renewed()
        return now, ring.cached()

    first = ring.current_sync()
    signing_keys.rotate(now=timezone.now())
    old, new = asyncio.run(look_twice())
    assert old is first
    assert new.signing_kid != first.signing_kid


@pytest.mark.django_db(transaction=True)
def test_threads_share_one_snapshot(ring: Keyring) -> None:
    seen = at_once(*[ring.current_sync] * 8)
    assert len(set(map(id, seen))) == 1


@pytest.mark.django_db
def test_looking_up_a_key_costs_next_to_nothing(ring: Keyring) -> None:
    kid = ring.current_sync().signing_kid
    began = time.thread_time()
    for _ in range(10_000):
        ring.verifying_key(kid)
    assert time.thread_time() - began < 1.0


def refuse(*, now: object) -> None:
    raise OperationalError("away")


@pytest.mark.django_db
def test_a_failed_read_is_tried_again_by_the_next_request(ring: Keyring, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as away:
        away.setattr(signing_keys, "ensure_active_key", refuse)
        with pytest.raises(NotReady):
            ring.current_sync()
    assert ring.current_sync().signing_kid


@pytest.mark.django_db(transaction=True)
def test_a_slow_database_does_not_block_the_event_loop(ring: Keyring, monkeypatch: pytest.MonkeyPatch) -> None:
    async def look() -> set[type]:
        looks = [asyncio.ensure_future(ring.current()) for _ in range(6)]
        await asyncio.sleep(0)  # all of them begin to wait, which is possible only if none blocks the loop
        assert not any(look.done() for look in looks)
        return {type(result) for result in await asyncio.gather(*looks, return_exceptions=True)}

    with connect() as other, monkeypatch.context() as impatient:
        impatient.setattr(snapshots, "WAIT_SECONDS", 0.2)
        other.execute("BEGIN")
        other.execute("LOCK TABLE accounts_signing_key IN ACCESS EXCLUSIVE MODE")
        assert asyncio.run(look()) == {NotReady}
        other.rollback()
    asyncio.run(ring.renewed())
    assert ring.cached().signing_kid
