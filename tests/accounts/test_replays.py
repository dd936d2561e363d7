"""Used proofs: each is accepted once, across processes, failures and data loss."""

import os
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.utils import timezone

from accounts.models import Account, DeviceSession, ProofReplay, ReplayEpoch
from accounts.operations import replays
from accounts.rules.dpop import ProofTicket
from gateway.core.contract.errors import ApiError, InvalidDpopProof, InvalidToken
from tests.accounts.race import race
from tests.factories.accounts import make_account


def ticket(*, issued: int = 0, digest: bytes | None = None) -> ProofTicket:
    now = int(time.time()) + issued
    return ProofTicket(digest or os.urandom(32), now, now + 75)


def outcome(proof: ProofTicket, *, did: str | None, session_id: str | None = None) -> str:
    try:
        replays.admit(proof, did=did, session_id=session_id)
    except ApiError as error:
        return error.private or error.code
    return "ok"


@pytest.fixture
def alice(db: None) -> Account:
    return make_account("alice")


def test_a_proof_serves_once(alice: Account) -> None:
    proof = ticket()
    replays.admit(proof, did=alice.did)
    with pytest.raises(InvalidDpopProof) as raised:
        replays.admit(proof, did=alice.did)
    assert "already used" in raised.value.message
    assert raised.value.headers["WWW-Authenticate"] == (
        'DPoP error="invalid_dpop_proof", error_description="The DPoP proof was refused: it was already used.", '
        'resource_metadata="https://gateway.example/.well-known/oauth-protected-resource", algs="ES256 EdDSA"'
    )
    row = ProofReplay.objects.get()
    assert bytes(row.digest) == proof.digest
    assert row.expires_at == datetime.fromtimestamp(proof.expires_at, UTC)


def test_a_proof_without_an_account_serves_once_too(db: None) -> None:
    proof = ticket()
    assert [outcome(proof, did=None), outcome(proof, did=None)] == ["ok", "invalid_dpop_proof"]


def test_an_unknown_account_is_refused_and_its_proof_not_recorded(alice: Account) -> None:
    assert outcome(ticket(), did="did:web:studio.example:nobody") == "unknown_account"
    assert not ProofReplay.objects.exists()


@pytest.mark.parametrize("fields", [{"suspended_at": datetime(2026, 1, 1, tzinfo=UTC)}, {"is_active": False}])
def test_a_suspended_account_is_refused_at_once(alice: Account, fields: dict[str, object]) -> None:
    assert outcome(ticket(), did=alice.did) == "ok"
    Account.objects.update(**fields)
    proof = ticket()
    assert outcome(proof, did=alice.did) == "suspended"
    with pytest.raises(InvalidToken):
        replays.admit(proof, did=alice.did)
    Account.objects.update(suspended_at=None, is_active=True)
    assert outcome(proof, did=alice.did) == "ok"


def test_a_device_session_must_be_live_and_the_accounts_own(alice: Account) -> None:
    now = timezone.now()
    lasting = now + timedelta(days=30)
    live = DeviceSession.objects.create(account=alice, client_id="c", created_at=now, expires_at=lasting)
    over = DeviceSession.objects.create(account=alice, client_id="c", created_at=now, expires_at=now)
    gone = DeviceSession.objects.create(
        account=alice, client_id="c", created_at=now, expires_at=lasting, revoked_at=now
    )
    other = DeviceSession.objects.create(account=make_account("bob"), client_id="c", created_at=now, expires_at=lasting)
    outcomes = {
        session_id: outcome(ticket(), did=alice.did, session_id=session_id)
        for session_id in (live.id, over.id, gone.id, other.id, "dev_none")
    }
    assert outcomes == {
        live.id: "ok",
        over.id: "session_revoked",
        gone.id: "session_revoked",
        other.id: "session_revoked",
        "dev_none": "session_revoked",
    }
    assert ProofReplay.objects.count() == 1


def test_a_proof_that_may_have_been_purged_is_refused(alice: Account) -> None:
    assert outcome(ticket(issued=-76), did=alice.did) == "invalid_dpop_proof"
    assert not ProofReplay.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_proof_stays_recorded_if_a_later_transaction_rolls_back() -> None:
    alice, proof = make_account("alice"), ticket()
    replays.admit(proof, did=alice.did)
    with transaction.atomic():
        Account.objects.update(display_name="changed")
        transaction.set_rollback(True)
    assert outcome(proof, did=alice.did) == "invalid_dpop_proof"
    assert Account.objects.get().display_name == ""


@pytest.mark.django_db(transaction=True)
def test_of_replays_at_once_in_several_processes_one_passes() -> None:
    alice = make_account("alice")
    digests = [os.urandom(32).hex() for _ in range(40)]
    reports = race(3, "admit", lambda: {"did": alice.did, "digests": digests, "expires_at": int(time.time()) + 75})
    for outcomes in zip(*reports, strict=True):
        assert Counter(outcomes) == {"ok": 1, "invalid_dpop_proof": 2}
    assert ProofReplay.objects.count() == 40


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("statement", ["TRUNCATE accounts_proof_replay", "DELETE FROM accounts_proof_replay"])
def test_an_emptied_store_refuses_earlier_proofs(statement: str) -> None:
    alice = make_account("alice")
    taken, untaken, later = ticket(), ticket(issued=-5), ticket(issued=1)
    replays.admit(taken, did=alice.did)
    with connection.cursor() as cursor:
        cursor.execute(statement)
    assert not ProofReplay.objects.exists()
    assert outcome(taken, did=alice.did) == "invalid_dpop_proof"
    assert outcome(untaken, did=alice.did) == "invalid_dpop_proof"
    assert outcome(later, did=alice.did) == "ok"


@pytest.mark.django_db(transaction=True)
def test_a_store_that_lost_its_epoch_refuses_earlier_proofs() -> None:
    alice, taken = make_account("alice"), ticket(issued=15)
    replays.admit(taken, did=alice.did)
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE accounts_proof_replay, accounts_replay_epoch")
    emptied_at = timezone.now()
    assert outcome(taken, did=alice.did) == "invalid_dpop_proof"
    assert outcome(ticket(), did=alice.did) == "invalid_dpop_proof"
    assert outcome(ticket(issued=20), did=alice.did) == "ok"
    lost_until = ReplayEpoch.objects.get().lost_until
    assert lost_until is not None
    assert emptied_at <= lost_until - timedelta(seconds=91) <= timezone.now()


@pytest.mark.django_db(transaction=True)
def test_a_single_lost_row_counts_too() -> None:
    alice, taken = make_account("alice"), ticket()
    replays.admit(taken, did=alice.did)
    ProofReplay.objects.all().delete()
    assert outcome(taken, did=alice.did) == "invalid_dpop_proof"


def test_a_new_database_has_lost_nothing(db: None) -> None:
    assert ReplayEpoch.objects.get().lost_until is None


def test_the_epoch_begins_once(alice: Account) -> None:
    replays.begin_epoch()
    assert ReplayEpoch.objects.get().lost_until is None


def test_purging_deletes_the_expired_and_moves_no_epoch(alice: Account) -> None:
    now = timezone.now()
    ProofReplay.objects.create(digest=b"old", expires_at=now - timedelta(seconds=1))
    ProofReplay.objects.create(digest=b"new", expires_at=now + timedelta(seconds=1))
    assert replays.purge_expired(now=now) == 1
    assert [bytes(row.digest) for row in ProofReplay.objects.all()] == [b"new"]
    assert ReplayEpoch.objects.get().lost_until is None
    assert replays.purge_expired(now=now) == 0


def test_after_a_restore_no_proof_that_may_have_been_used_passes(alice: Account) -> None:
    before, later = ticket(issued=14), ticket(issued=3600)
    out = StringIO()
    call_command("refuse_earlier_proofs", stdout=out)
    lost_until = ReplayEpoch.objects.get().lost_until
    assert lost_until is not None
    assert out.getvalue().startswith(f"Proofs that expire until {lost_until:%Y-%m-%d %H:%M:%S} UTC are refused.")
    assert outcome(before, did=alice.did) == "invalid_dpop_proof"
    assert outcome(later, did=alice.did) == "ok"


def test_refusing_earlier_proofs_never_lets_earlier_ones_pass_again(alice: Account) -> None:
    far = timezone.now() + timedelta(hours=1)
    ReplayEpoch.objects.update(lost_until=far)
    assert replays.refuse_earlier() == far
    ReplayEpoch.objects.all().delete()
    assert replays.refuse_earlier() < far
