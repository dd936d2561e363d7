"""The jobs of the accounts app."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts import tasks
from accounts.models import AuthorizationCode, ConsumedAssertion, ProofReplay
from accounts.operations import codes
from tests.factories.accounts import make_account

pytestmark = pytest.mark.django_db


def test_expired_replay_records_are_purged() -> None:
    now = timezone.now()
    for age in (-60, 60):
        when = now + timedelta(seconds=age)
        ProofReplay.objects.create(digest=str(age).encode(), expires_at=when)
        ConsumedAssertion.objects.create(issuer="https://studio.example", jti=str(age), expires_at=when)
    assert (tasks.purge_proofs(), tasks.purge_assertions()) == (1, 1)
    assert (tasks.purge_proofs(), tasks.purge_assertions()) == (0, 0)
    assert bytes(ProofReplay.objects.get().digest) == b"60"
    assert ConsumedAssertion.objects.get().jti == "60"


def test_a_code_is_kept_for_thirty_days_after_it_expired() -> None:
    now, who = timezone.now(), make_account()
    for name, age in (("kept", timedelta(days=30)), ("purged", timedelta(days=30, seconds=1))):
        AuthorizationCode.objects.create(
            client_id="https://app.example",
            redirect_uri="https://app.example/cb",
            scopes=[],
            code_sha256=name.encode(),
            account=who,
            code_challenge=name,
            created_at=now - age,
            expires_at=now - age,
        )
    assert codes.purge_expired(now=now) == 1
    assert AuthorizationCode.objects.get().code_challenge == "kept"
