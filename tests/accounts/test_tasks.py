"""The jobs of the accounts app."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts import tasks
from accounts.models import ConsumedAssertion, ProofReplay

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
