"""People may give a name when they sign up, and change it later."""

import pytest
from django.test import Client

from accounts.models import Account
from gateway.core.contract.limits import ACCOUNT_NAME_MAX_CHARACTERS
from tests.factories.accounts import make_account

pytestmark = pytest.mark.django_db

HOSTILE = ["a\u202eb", "a\x1fb", "x" * (ACCOUNT_NAME_MAX_CHARACTERS + 1)]
SIGN_UP = {"email": "ada@example.com", "password1": "correct horse battery"}
WORDS = "What apps and members of your organizations call you."


def name_of(email: str = SIGN_UP["email"]) -> str:
    return Account.objects.get(email=email).display_name


@pytest.mark.parametrize(("typed", "stored"), [({}, ""), ({"name": " Ada Lovelace "}, "Ada Lovelace")])
def test_sign_up_stores_a_name(typed: dict[str, str], stored: str) -> None:
    client = Client()
    assert client.post("/account/signup/", SIGN_UP | typed).status_code == 303
    assert name_of() == stored
    assert ("Hello, Ada Lovelace" in client.get("/").content.decode()) is bool(stored)


@pytest.mark.parametrize("name", HOSTILE)
def test_sign_up_refuses_a_hostile_name(name: str) -> None:
    assert Client().post("/account/signup/", SIGN_UP | {"name": name}).status_code in (200, 400)
    assert not Account.objects.filter(email=SIGN_UP["email"]).exists()


def test_is_changed_and_removed(client: Client) -> None:
    client.force_login(make_account("ada", email=SIGN_UP["email"]))
    assert WORDS in client.get("/").content.decode()
    for name, words in (("Ada", "Your name was changed."), ("", "Your name was removed.")):
        answer = client.post("/account/name/", {"display_name": name})
        assert (answer.status_code, answer["Location"]) == (303, "/")
        assert words in client.get("/").content.decode()
        assert name_of() == name
    assert "no-store" in client.get("/account/name/")["Cache-Control"]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_changes_nothing(client: Client, name: str) -> None:
    client.force_login(make_account("ada", email=SIGN_UP["email"], display_name="Ada"))
    assert client.post("/account/name/", {"display_name": name}).status_code in (200, 400)
    assert name_of() == "Ada"


def test_a_stranger_is_asked_to_sign_in(client: Client) -> None:
    assert client.get("/account/name/")["Location"] == "/account/login/?next=/account/name/"
