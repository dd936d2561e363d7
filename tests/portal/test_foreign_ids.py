"""Other people's ids on the portal's pages get the same responses as unknown ids.

The paths come from the URLconf, so new ones are tested automatically.
"""

import re
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.test import Client
from pytest_django import Settings

from accounts.models import Account, AuthorizationRequest, Consent, DeviceSession
from billing.models import Budget, Checkout
from billing.operations import own_budgets
from tests.factories.billing import Purse, settle
from tests.factories.payments import top_up
from tests.gateway.every_url import parameters_of, templates
from tests.portal.test_anonymous_rows import begin
from tests.portal.test_pages import PASSWORD, sign_up

pytestmark = pytest.mark.django_db

APP = "https://app.example"
# Covered by other tests.
ELSEWHERE = (
    *("/admin/", "/v1/organizations/", "/v1/responses/", "/api/organizations/", "/organizations/"),
    *("/v1/projects/", "/v1/sandbox/", "/v1/ci/", "/v1/evolution/", "/v1/usage/", "/webhooks/"),
)
# Public ids: documents, providers, models, and links that are secret themselves.
FOR_ALL = {"account_id", "provider_id", "inserted", "model", "key", "uidb36", "token"}
UNKNOWN = {
    "request_id": "areq_none",
    "consent_id": "999999999",
    "session_id": "dev_none",
    "budget_id": "bud_none",
    "transaction_id": "txn_none",
    "usage_id": "use_none",
    "pk": "999999999",
}
PATHS = [each for each in templates() if set(parameters_of(each)) - FOR_ALL and not each.startswith(ELSEWHERE)]
FORMS = [
    ("/account/email/", "email", "action_primary"),
    ("/account/email/", "email", "action_remove"),
    ("/account/3rdparty/", "account", "x"),
]


class Person:
    """A person with one record of each kind."""

    def __init__(self, name: str) -> None:
        self.client = Client(raise_request_exception=False)
        sign_up(self.client, email=f"{name}@example.com")
        self.client.post("/account/reauthenticate/", {"password": PASSWORD})  # required for passkeys
        self.account = Account.objects.get(email=f"{name}@example.com")
        now = self.account.created_at
        begin(self.client)
        passkey = {"name": name, "credential": {}}
        consent = {"client_id": APP, "kind": "realtime", "given_at": now}
        transaction = top_up(("account", self.account.did), 5_000_000).pk
        settled = Purse("account", self.account.did).call(5)
        settle(settled, 3)
        self.ids = {
            "consent_id": str(Consent.objects.create(account=self.account, **consent).pk),
            "request_id": AuthorizationRequest.objects.latest("created_at").pk,
            "session_id": DeviceSession.objects.create(account=self.account, created_at=now, expires_at=now).pk,
            "budget_id": own_budgets.put_monthly(did=self.account.did, client_id=APP, limit_microusd=5).pk,
            "transaction_id": transaction,
            "usage_id": settled,
            "pk": str(Authenticator.objects.create(user=self.account, type="webauthn", data=passkey).pk),
        }
        self.fields = {
            "email": f"{name}@example.com",
            "account": str(SocialAccount.objects.create(user=self.account, provider="sso", uid=name).pk),
        }

    def ask(self, method: str, path: str, form: dict[str, str]) -> tuple[int, str, str]:
        """Return status, redirect location and page, without parts that always differ."""
        answer = self.client.get(path) if method == "GET" else self.client.post(path, form)
        text = re.sub(r'(req_\w+|name="(csrfmiddlewaretoken|key)" value="\w+")', "", answer.content.decode())
        return answer.status_code, answer.get("Location", ""), text

    def state(self) -> list[Any]:
        """Return all records of this person."""
        rows = [each.objects.filter(user=self.account) for each in (Authenticator, EmailAddress, SocialAccount)]
        rows += [
            Consent.objects.filter(account=self.account),
            DeviceSession.objects.filter(account=self.account),
            Budget.objects.filter(wallet__owner_key=self.account.did),
            Checkout.objects.filter(owner_key=self.account.did),
        ]
        rows += [
            AuthorizationRequest.objects.filter(pk=self.ids["request_id"]),
            Account.objects.filter(pk=self.account.pk),
        ]
        rows += [Session.objects.filter(pk__in=UserSession.objects.filter(user=self.account).values("session_key"))]
        return [list(each.order_by("pk").values()) for each in rows]


@pytest.fixture
def people(settings: Settings) -> tuple[Person, Person]:
    settings.MAIL_IS_CONFIGURED = True
    return Person("victoria"), Person("mallory")


def test_every_parameter_is_known() -> None:
    names = {name for each in PATHS for name in parameters_of(each)}
    assert names - FOR_ALL == set(UNKNOWN)


@pytest.mark.parametrize("path", PATHS)
def test_an_id_of_another_person_is_as_unknown_as_one_that_never_was(people: tuple[Person, Person], path: str) -> None:
    victoria, mallory = people
    before = victoria.state()
    for method in ("GET", "POST"):
        theirs, nobodys = [
            mallory.ask(method, path.format(**ids), {"name": "Mine", "answer": "allow"})
            for ids in (victoria.ids, UNKNOWN)
        ]
        assert theirs == nobodys
        assert theirs[0] != 200
    assert victoria.state() == before
    assert {mallory.ask(method, path.format(**mallory.ids), {})[0] for method in ("GET", "POST")} & {200, 303}


@pytest.mark.parametrize(("path", "field", "action"), FORMS)
def test_a_field_that_names_another_persons_thing_does_nothing(
    people: tuple[Person, Person], path: str, field: str, action: str
) -> None:
    victoria, mallory = people
    before = victoria.state()
    unknown = {"email": "nobody@example.com", "account": "999999999"}
    theirs, nobodys = [
        mallory.ask("POST", path, {field: each[field], action: ""}) for each in (victoria.fields, unknown)
    ]
    assert theirs == nobodys
    assert victoria.state() == before
