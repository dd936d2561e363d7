"""Recovery of accounts: password reset by mail, limits on guesses, and ending other sessions."""

import re

import pytest
from django.core import mail
from django.test import Client
from pytest_django import Settings

from accounts.models import Account
from tests.portal.test_pages import PASSWORD, device_of, sign_up

pytestmark = pytest.mark.django_db

NEW_PASSWORD = "another horse battery"
SIGN_IN = "/account/login/"


def sign_in(client: Client, password: str) -> int:
    return client.post(SIGN_IN, {"login": "alice@example.com", "password": password}).status_code


def test_a_mailed_link_sets_a_new_password_once_and_ends_devices(client: Client, settings: Settings) -> None:
    settings.MAIL_IS_CONFIGURED = True
    sign_up(client)
    device = device_of(Account.objects.get())
    stranger = Client()
    stranger.post("/account/password/reset/", {"email": "alice@example.com"})
    [link] = re.findall(r"/account/password/reset/key/\S+", str(mail.outbox[0].body))
    form = stranger.get(link)["Location"]
    answer = stranger.post(form, {"password1": NEW_PASSWORD, "password2": NEW_PASSWORD})
    assert answer.status_code == 303
    device.refresh_from_db()
    assert device.revoked_at is not None
    assert sign_in(Client(), PASSWORD) == 200
    assert sign_in(Client(), NEW_PASSWORD) == 303
    assert "password1" not in Client().get(link, follow=True).content.decode()


def test_guesses_are_limited_though_the_last_one_is_right(client: Client) -> None:
    sign_up(client)
    stranger = Client()
    for _ in range(5):
        assert sign_in(stranger, "wrong password") == 200
    assert sign_in(stranger, PASSWORD) != 303
    assert stranger.get("/").status_code == 302


def test_the_other_sessions_can_be_ended(client: Client) -> None:
    sign_up(client)
    other = Client()
    assert sign_in(other, PASSWORD) == 303
    client.get("/")
    assert other.get("/").status_code == 200
    client.post("/account/sessions/")
    assert client.get("/").status_code == 200
    assert other.get("/").status_code == 302
