"""Rows that anonymous visitors create: few, short-lived, and limited for each IP address."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import AuthorizationRequest
from accounts.tasks import purge_authorizations, purge_portal_sessions

pytestmark = pytest.mark.django_db

QUERY = {
    "response_type": "code",
    "client_id": "https://app.example",
    "redirect_uri": "https://app.example/callback",
    "code_challenge_method": "S256",
    "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    "scope": "wallet:read",
    "state": "state",
}


def begin(client: Client, address: str = "203.0.113.9") -> Any:
    return client.get("/authorize?" + urlencode(QUERY), REMOTE_ADDR=address)


def life(session: Session) -> timedelta:
    return session.expire_date - timezone.now()


def test_an_anonymous_session_expires_after_an_hour_and_is_purged(client: Client) -> None:
    response = begin(client)
    assert response.cookies["sessionid"]["max-age"] == 3600
    session = Session.objects.get()
    assert timedelta(minutes=59) < life(session) <= timedelta(hours=1)
    purge_portal_sessions()
    assert Session.objects.count() == 1
    Session.objects.update(expire_date=timezone.now())
    purge_portal_sessions()
    assert not Session.objects.exists()


def test_signing_in_gives_the_session_its_usual_life(client: Client) -> None:
    begin(client)
    client.post("/account/signup/", {"email": "alice@example.com", "password1": "correct horse battery"})
    assert life(Session.objects.get()) > timedelta(days=13)


def test_an_expired_authorization_request_is_purged(client: Client) -> None:
    begin(client)
    AuthorizationRequest.objects.update(expires_at=timezone.now())
    purge_authorizations()
    assert not AuthorizationRequest.objects.exists()


def test_authorizations_from_one_address_are_limited(settings: Settings) -> None:
    settings.AUTHORIZATIONS_PER_ADDRESS_MINUTE = 3
    assert [begin(Client()).status_code for _ in range(5)] == [302, 302, 302, 429, 429]
    refused = begin(Client())
    assert 1 <= int(refused["Retry-After"]) <= 60
    assert b"Too many requests" in refused.content
    assert AuthorizationRequest.objects.count() == Session.objects.count() == 3
    assert begin(Client(), "203.0.113.10").status_code == 302


def test_sessions_from_one_address_are_limited(settings: Settings) -> None:
    settings.SESSIONS_PER_ADDRESS_MINUTE = 2
    old = Client()
    assert [begin(old).status_code for _ in range(4)] == [302] * 4  # one session
    assert [begin(Client()).status_code for _ in range(3)] == [302, 429, 429]
    assert "sessionid" not in begin(Client()).cookies
    assert Session.objects.count() == 2
    person = {"email": "alice@example.com", "password1": "correct horse battery"}
    response = Client(REMOTE_ADDR="203.0.113.9").post("/account/signup/", person)
    assert response.status_code == 303  # a person who signs in has no anonymous session
