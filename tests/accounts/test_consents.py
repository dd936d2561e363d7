"""Consents: given with the scope on the consent page, shown only to their owner, and withdrawn."""

from datetime import datetime

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Account, Consent
from accounts.operations import consents
from accounts.queries.consents import active_of
from tests.accounts.test_authorize import allow, begin
from tests.factories.accounts import make_account

APP = "https://app.example"

pytestmark = pytest.mark.django_db


@pytest.fixture
def now() -> datetime:
    return timezone.now()


@pytest.fixture
def alice() -> Account:
    return make_account("alice")


def test_allowing_live_sessions_records_the_consent(alice: Account, now: datetime) -> None:
    request = begin(now, scope=["realtime:connect wallet:read"])
    allow(request, alice, now)
    [given] = active_of(alice)
    assert (given.client_id, given.kind, given.given_at) == (request.client_id, "realtime", now)


def test_allowing_something_else_records_none(alice: Account, now: datetime) -> None:
    allow(begin(now, scope=["realtime:connect wallet:read"]), alice, now, scopes=["wallet:read"])
    assert not Consent.objects.exists()


def test_a_consent_given_again_stands_again(alice: Account, now: datetime) -> None:
    consents.give(account=alice, client_id=APP, kind="realtime", now=now)
    [given] = active_of(alice)
    assert consents.withdraw(account=alice, consent_id=given.pk, now=now)
    assert not consents.withdraw(account=alice, consent_id=given.pk, now=now)
    assert list(active_of(alice)) == []
    consents.give(account=alice, client_id=APP, kind="realtime", now=now)
    assert [each.pk for each in active_of(alice)] == [given.pk]


def test_the_portal_lists_and_withdraws_only_ones_own(alice: Account, now: datetime) -> None:
    bob = make_account("bob-of-consents")
    for account, client_id in ((alice, APP), (bob, "https://other.example")):
        consents.give(account=account, client_id=client_id, kind="realtime", now=now)
    browser = Client()
    browser.force_login(alice, backend="django.contrib.auth.backends.ModelBackend")
    page = browser.get("/apps").content.decode()
    assert APP in page
    assert "other.example" not in page
    [foreign], [own] = active_of(bob), active_of(alice)
    assert browser.post(f"/consents/{foreign.pk}/withdraw").status_code == 303
    assert active_of(bob).exists()
    assert "The consent was withdrawn." in browser.post(f"/consents/{own.pk}/withdraw", follow=True).content.decode()
    page = browser.get("/apps").content.decode()
    assert "You have not allowed any app yet." in page
    assert "Withdraw</button>" not in page
    assert browser.get(f"/consents/{own.pk}/withdraw").status_code == 405
    assert Client().get("/apps")["Location"] == "/account/login/?next=/apps"
    assert browser.get("/consents")["Location"] == "/apps"
