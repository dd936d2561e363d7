"""How operators sign in to the console."""

import pytest
from allauth.mfa.models import Authenticator
from django.core.cache import cache
from django.test import Client

from accounts.models import Account

pytestmark = pytest.mark.django_db

DID, EMAIL, PASSWORD = "did:web:localhost:operator", "operator@localhost", "a-long-password"


@pytest.fixture(autouse=True)
def operator() -> Account:
    cache.clear()
    return Account.objects.create_superuser(DID, EMAIL, PASSWORD)


def sign_in(name: str, password: str = PASSWORD, query: str = "?next=/admin/billing/wallet/") -> tuple[int, str]:
    response = Client().post(f"/admin/login/{query}", {"username": name, "password": password})
    return response.status_code, response.headers.get("Location", "")


@pytest.mark.parametrize("name", [DID, EMAIL, EMAIL.upper()])
def test_an_operator_signs_in_by_address_or_did(name: str) -> None:
    assert sign_in(name) == (303, "/admin/billing/wallet/")


@pytest.mark.parametrize("query", ["", "?next="])
def test_an_operator_who_requested_no_page_gets_the_overview(query: str) -> None:
    assert sign_in(EMAIL, query=query) == (303, "/admin/")


@pytest.mark.parametrize("name", [DID, EMAIL, "nobody@localhost", "did:web:localhost:nobody", "\x00", "x" * 5000])
def test_a_wrong_password_is_refused_alike_for_everybody(name: str) -> None:
    assert sign_in(name, "a-wrong-password") == (200, "")


def test_somebody_who_is_no_operator_is_refused() -> None:
    Account.objects.create_user("did:web:localhost:alice", "alice@localhost", PASSWORD)
    assert sign_in("alice@localhost") == (200, "")


def test_a_second_factor_is_not_passed_by(operator: Account) -> None:
    Authenticator.objects.create(user=operator, type=Authenticator.Type.TOTP, data={"secret": "x"})
    assert sign_in(EMAIL) == (303, "/account/2fa/authenticate/")


def test_guessing_ends_after_a_few_attempts() -> None:
    for _ in range(5):
        assert sign_in(EMAIL, "a-wrong-password") == (200, "")
    assert sign_in(EMAIL) == (200, "")
    cache.clear()
    assert sign_in(EMAIL)[0] == 303


def test_only_pages_of_this_site_are_gone_to() -> None:
    response = Client().post("/admin/login/?next=https://evil.example/", {"username": DID, "password": PASSWORD})
    assert response.status_code == 303
    assert not response["Location"].startswith("http")
