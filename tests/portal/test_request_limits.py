"""Limits of the portal's pages and scripts: for each person, and for each address of people who are not signed in."""

import hmac
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.models import Account
from gateway.core.http import refused_webhooks
from gateway.core.runtime import process_limits
from organizations.models import Invitation, Organization
from tests.factories.organizations import Team, account
from tests.portal.organization_browser import signed_in

pytestmark = pytest.mark.django_db

HOME, ELSEWHERE = "203.0.113.9", "203.0.113.10"
SIGN_IN = "/account/login/"
EVENT = '{"id": "evt_1", "object": "event", "type": "product.created", "data": {"object": {}}}'


@pytest.fixture(autouse=True)
def nothing_counted(settings: Settings) -> Iterator[None]:
    process_limits.forget()
    refused_webhooks.forget()
    settings.PAGE_REQUESTS_PER_ADDRESS_MINUTE = 3
    settings.PORTAL_REQUESTS_PER_ACCOUNT_MINUTE = 2
    yield
    process_limits.forget()
    refused_webhooks.forget()


@pytest.fixture
def alice() -> Account:
    return account("alice")


def test_pages_for_strangers_are_limited_by_address() -> None:
    pages = [Client().get(SIGN_IN, REMOTE_ADDR=HOME) for _ in range(4)]
    assert [page.status_code for page in pages] == [200, 200, 200, 429]
    assert pages[0]["RateLimit-Policy"] == '"address-page-requests";q=3;w=60'
    assert [page["RateLimit"].partition(";t=")[0] for page in pages] == [
        f'"address-page-requests";r={left}' for left in (2, 1, 0, 0)
    ]
    wait = int(pages[3]["Retry-After"])
    assert 1 <= wait <= 60
    assert f"from your network. Try again in {wait} second" in pages[3].content.decode()
    assert Client().get(SIGN_IN, REMOTE_ADDR=ELSEWHERE).status_code == 200


def test_a_person_is_not_counted_with_strangers_of_the_same_address(alice: Account) -> None:
    person = signed_in(alice)
    for _ in range(4):
        Client().get(SIGN_IN, REMOTE_ADDR=HOME)
    assert person.get("/organizations", REMOTE_ADDR=HOME).status_code == 200


def test_pages_and_scripts_of_one_person_share_a_limit(alice: Account) -> None:
    person, other_device = signed_in(alice), signed_in(alice)
    assert person.get("/organizations").status_code == 200
    assert other_device.get("/api/organizations").status_code == 200
    page, answer = person.get("/organizations"), other_device.get("/api/organizations")
    assert (page.status_code, answer.status_code) == (429, 429)
    assert "from your account." in page.content.decode()
    error = answer.json()["error"]
    assert (error["code"], error["details"]["scope"]) == ("rate_limited", "account")
    assert error["details"]["limit"] == "portal_requests_per_minute"
    assert answer["RateLimit"] == f'"account-portal-requests";r=0;t={answer["Retry-After"]}'
    assert signed_in(account("bob")).get("/organizations").status_code == 200


def test_documents_that_caches_keep_say_nothing_of_one_client() -> None:
    answer = Client().get("/.well-known/jwks.json")
    assert answer.status_code == 200
    assert "RateLimit" not in answer


def test_the_console_and_the_api_are_not_counted_here() -> None:
    for _ in range(4):
        assert Client().get("/admin/", REMOTE_ADDR=HOME).status_code == 302
        assert Client().get("/v1/wallet", REMOTE_ADDR=HOME).status_code == 401
    assert Client().get(SIGN_IN, REMOTE_ADDR=HOME).status_code == 200


def test_sign_ups_say_what_is_left(settings: Settings) -> None:
    settings.ACCOUNT_RATE_LIMITS = {**settings.ACCOUNT_RATE_LIMITS, "signup": "2/m/ip"}
    pages = [Client().post("/account/signup/", {"email": "x"}, REMOTE_ADDR=HOME) for _ in range(3)]
    assert [page.status_code for page in pages] == [200, 200, 429]
    stated = [page["RateLimit"].partition(", ")[2] for page in pages]
    assert [item.partition(";t=")[0] for item in stated] == [f'"address-sign-ups";r={left}' for left in (1, 0, 0)]
    assert pages[2]["Retry-After"] == stated[2].partition(";t=")[2]
    assert 1 <= int(pages[2]["Retry-After"]) <= 60


@pytest.mark.parametrize("email", ["alice@example.com", "nobody@example.com"])
def test_a_sign_in_says_what_is_left_for_the_address_and_nothing_of_guesses(email: str, alice: Account) -> None:
    Account.objects.filter(pk=alice.pk).update(email="alice@example.com")
    page = Client().post(SIGN_IN, {"login": email, "password": "wrong"}, REMOTE_ADDR=HOME)
    assert page["RateLimit-Policy"] == '"address-page-requests";q=3;w=60, "address-sign-ins";q=60;w=60'
    assert page["RateLimit"].partition(", ")[2].startswith('"address-sign-ins";r=59;t=')


def test_organizations_that_one_person_makes_are_limited(alice: Account, settings: Settings) -> None:
    settings.PORTAL_REQUESTS_PER_ACCOUNT_MINUTE = 100
    settings.ORGANIZATIONS_PER_ACCOUNT_HOUR = 2
    person = signed_in(alice)
    made = [person.post("/organizations", {"name": f"Number {number}"}) for number in range(3)]
    assert [page.status_code for page in made] == [303, 303, 429]
    assert '"account-organizations";r=0;t=' in made[2]["RateLimit"]
    again = person.post("/api/organizations", {"name": "Another"}, content_type="application/json")
    assert (again.status_code, again.json()["error"]["details"]["limit"]) == (429, "organizations_per_hour")
    assert Organization.objects.count() == 2


def test_invitations_that_one_person_makes_are_limited(settings: Settings) -> None:
    settings.PORTAL_REQUESTS_PER_ACCOUNT_MINUTE = 100
    settings.INVITATIONS_PER_ACCOUNT_HOUR = 1
    team = Team("sarah")
    person = signed_in(team.owner)
    assert person.post(f"/organizations/{team.id}/invitations", {"role": "member"}).status_code == 303
    assert person.post(f"/organizations/{team.id}/invitations", {"role": "member"}).status_code == 429
    path = f"/api/organizations/{team.id}/invitations"
    refused = person.post(path, {"role": "member"}, content_type="application/json")
    assert (refused.status_code, refused.json()["error"]["details"]["limit"]) == (429, "invitations_per_hour")
    assert Invitation.objects.count() == 1


def test_reports_are_limited(settings: Settings) -> None:
    settings.PORTAL_REQUESTS_PER_ACCOUNT_MINUTE = 100
    settings.REPORTS_PER_ACCOUNT_MINUTE = 3
    team = Team("sarah")
    person = signed_in(team.owner)
    paths = ["/wallet/usage", f"/organizations/{team.id}/usage.csv", f"/api/organizations/{team.id}/usage"]
    assert [person.get(path).status_code for path in paths] == [200] * 3
    paths += ["/wallet/usage.csv", f"/organizations/{team.id}/usage", f"/api/organizations/{team.id}/billing"]
    assert [person.get(path).status_code for path in paths] == [429] * 6


def test_refused_deliveries_are_limited_by_address(settings: Settings) -> None:
    deliver, signed = delivering(settings)
    sent = [deliver(HOME, "0" * 64) for _ in range(3)]
    assert [answer.status_code for answer in sent] == [400, 400, 429]
    assert sent[2].json()["error"]["details"]["limit"] == "refused_webhooks_per_minute"
    assert (deliver(HOME, signed).status_code, deliver(ELSEWHERE, signed).status_code) == (429, 200)


def test_refused_deliveries_from_a_provider_s_address_keep_no_accepted_one_out(settings: Settings) -> None:
    """Anybody with an account at the provider can have it deliver, signed with another secret, from the same addresses."""
    deliver, signed = delivering(settings)
    assert [deliver(HOME, signed).status_code for _ in range(3)] == [200] * 3
    assert [deliver(HOME, "0" * 64).status_code for _ in range(5)] == [400] * 5
    assert deliver(HOME, signed).status_code == 200


def delivering(settings: Settings) -> tuple[Callable[[str, str], Any], str]:
    """Allow two refused deliveries; return what delivers an event of the payment provider, and the right signature."""
    settings.REFUSED_WEBHOOKS_PER_ADDRESS_MINUTE = 2
    settings.STRIPE_SECRET_KEY, settings.STRIPE_WEBHOOK_SECRET = "sk_test_any", ["whsec_any"]
    stamp = str(int(time.time()))
    signature = hmac.new(b"whsec_any", f"{stamp}.{EVENT}".encode(), "sha256").hexdigest()

    def deliver(address: str, signed: str) -> Any:
        headers = {"Stripe-Signature": f"t={stamp},v1={signed}"}
        return Client(REMOTE_ADDR=address).post(
            "/webhooks/stripe", EVENT, content_type="application/json", headers=headers
        )

    return deliver, signature
