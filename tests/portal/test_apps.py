"""The page of a person's apps: what each may do, and the budgets that the person has set for them."""

import html
import re
from contextlib import suppress
from datetime import timedelta
from hashlib import sha256
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import Account, AuthorizationCode, Consent, DeviceSession, PublicClient
from accounts.operations import apps, consents
from accounts.operations import codes as codes_operations
from accounts.operations.codes import is_known
from accounts.rules.pkce import challenge_of
from billing.models import Budget
from billing.operations import budgets, own_budgets
from billing.queries import audit
from billing.rules.budgets import BudgetPeriod, Subject
from gateway.core.contract.errors import InvalidGrant
from tests.factories.billing import Purse, settle
from tests.factories.organizations import Team, account
from tests.portal.organization_browser import FRAME_QUERIES_MAX, signed_in
from tests.portal.test_pages import device_of
from tests.portal.test_wallet import text_of
from tests.support.concurrency import at_once

pytestmark = pytest.mark.django_db

APP = "https://app.example"
OTHER = "https://other.example"
PERIODS = ["month", "week", "day"]


@pytest.fixture
def did() -> str:
    """Alice's DID. She is signed in at an app."""
    device_of(account("alice"))
    return account("alice").did


def put(client: Client, app: str = "", period: str = "month", limit: str = "5") -> Any:
    return client.post("/apps", {"app": app, "period": period, "limit": limit})


def off(client: Client, budget: Budget) -> Any:
    return client.post(f"/apps/budgets/{budget.pk}/disable")


def own(did: str) -> list[tuple[str | None, str, int]]:
    found = Budget.objects.filter(wallet__owner_key=did, disabled_at=None).order_by("created_at")
    return [(budget.client_id, budget.period, budget.limit_microusd) for budget in found]


def test_asks_a_stranger_to_sign_in() -> None:
    assert Client().get("/apps")["Location"] == "/account/login/?next=/apps"
    for answer in (put(Client()), Client().post("/apps/budgets/bud_1/disable")):
        assert answer["Location"].startswith("/account/login/")
    assert not Budget.objects.exists()


def test_without_any(alice: Client) -> None:
    words = text_of(alice.get("/apps"))
    assert "You have not allowed any app yet." in words
    assert "You have no budgets. Without a budget, apps can spend everything in your wallet." in words


def test_lists_apps_with_what_they_may(alice: Client, did: str) -> None:
    PublicClient.objects.create(client_id=APP, name="Notes")
    device_of(account("alice"), "Phone")
    consents.give(account=account("alice"), client_id=OTHER, kind="realtime", now=timezone.now())
    consents.give(account=account("alice"), client_id="agw", kind="realtime", now=timezone.now())
    device_of(account("bob"))
    DeviceSession.objects.filter(account=account("bob")).update(client_id="https://bobs.example")
    DeviceSession.objects.filter(account=account("alice")).update(
        scopes=["wallet:read", "infer:fast", "infer:cheap"], jkt="k" * 43
    )
    words = text_of(alice.get("/apps"))
    assert re.search(
        rf"Notes Address {APP} Allowed [^.]+ Spent in \w+ \d+ \$0.00 Budget None: it can spend everything", words
    )
    assert (
        "It can See your credits and balance Use the models “cheap”, “fast”, paid from your wallet Signed in on 2"
        in words
    )
    assert words.count(f"Key {'k' * 43}") == 2
    assert "Command line (agw)" in words
    assert re.search(rf"other.example Address {OTHER} .* You agreed It may open live sessions", words)
    assert "bobs.example" not in words


def test_says_what_an_app_spent_and_may_spend(alice: Client, did: str) -> None:
    purse = Purse("account", did).pay(10_000_000)
    settle(purse.call(3_000_000, client_id=APP), 2_500_000)
    settle(purse.call(1_000_000, client_id=OTHER), 900_000)
    put(alice, APP, "month", "5"), put(alice, APP, "day", "100")
    words = text_of(alice.get("/apps"))
    assert re.search(
        r"Spent in \w+ \d+ \$2.50 Budget \$100.00 a day, 2% used; \$5.00 a month, 50% used. Set a budget", words
    )
    page = page_of(alice)
    assert "/wallet/usage?app=https%3A%2F%2Fapp.example#calls" in page
    assert f'<option value="{APP}" selected>app.example</option>' in html.unescape(
        alice.get("/apps", {"app": APP}).content.decode()
    )


@pytest.mark.parametrize("old", ["/devices", "/consents"])
def test_old_addresses_lead_here(alice: Client, old: str) -> None:
    assert alice.get(old)["Location"] == "/apps"


def test_revoking_an_app_ends_all_of_it_and_nothing_else(alice: Client, did: str) -> None:
    me, now = account("alice"), timezone.now()
    device_of(me, "Phone")
    other = device_of(me, "Other")
    DeviceSession.objects.filter(pk=other.pk).update(client_id=OTHER)
    bobs = device_of(account("bob"))
    for who in (me, account("bob")):
        consents.give(account=who, client_id=APP, kind="realtime", now=now)
    codes = [
        code_of(me, APP, 1),
        code_of(me, APP, 2, spent_at=now),
        code_of(account("bob"), APP, 3),
        code_of(me, OTHER, 4),
    ]
    put(alice, APP)
    assert "The app was signed out" in follow(alice, alice.post("/apps/revoke", {"client_id": APP}))
    live = DeviceSession.objects.filter(revoked_at=None)
    assert set(live) == {other, bobs}
    assert [one.account for one in Consent.objects.filter(withdrawn_at=None)] == [account("bob")]
    assert [(code.spent_at is None, code.scopes) for code in refreshed(codes)] == [
        (False, []),
        (False, []),
        (True, ["wallet:read"]),
        (True, ["wallet:read"]),
    ]
    assert "Revoke app app.example" not in page_of(alice)
    assert own(did) == [(APP, "month", 5_000_000)]
    DeviceSession.objects.filter(revoked_at__isnull=False).delete()
    assert [is_known(account=me, client_id=one) for one in (APP, OTHER)] == [False, True]
    assert "The app was signed out" not in follow(alice, alice.post("/apps/revoke", {"client_id": APP})), (
        "nothing is left"
    )


@pytest.mark.parametrize("client_id", ["", "https://never.example", "x" * 10_000])
def test_revoking_what_was_never_allowed_changes_nothing(alice: Client, did: str, client_id: str) -> None:
    assert "The app was signed out" not in follow(alice, alice.post("/apps/revoke", {"client_id": client_id}))
    assert DeviceSession.objects.filter(revoked_at=None).count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_code_that_is_redeemed_while_its_app_is_revoked_leaves_no_session() -> None:
    me = Account.objects.create_user("did:web:studio.example:racer")
    for number in range(4):
        verifier = f"{number:043}"
        code = code_of(me, APP, number, challenge=challenge_of(verifier), value=f"code {number}")
        redemption = codes_operations.Redemption(f"code {number}", verifier, APP, f"{APP}/callback", "k" * 43, "Laptop")

        def redeem(redemption: codes_operations.Redemption = redemption) -> None:
            with suppress(InvalidGrant):
                codes_operations.redeem(redemption, now=timezone.now())

        at_once(redeem, lambda: apps.revoke(account=me, client_id=APP, now=timezone.now()))
        assert not DeviceSession.objects.filter(account=me, revoked_at=None).exists()
        assert refreshed([code])[0].spent_at is not None


def code_of(
    who: Account, client_id: str, number: int, challenge: str = "", value: str = "", **fields: Any
) -> AuthorizationCode:
    now = timezone.now()
    return AuthorizationCode.objects.create(
        code_sha256=sha256((value or f"{who.did} {number}").encode()).digest(),
        account=who,
        client_id=client_id,
        redirect_uri=f"{client_id}/callback",
        scopes=["wallet:read"],
        code_challenge=challenge or f"{number:043}",
        created_at=now,
        expires_at=now + timedelta(seconds=60),
        **fields,
    )


def refreshed(codes: list[AuthorizationCode]) -> list[AuthorizationCode]:
    return [AuthorizationCode.objects.get(pk=code.pk) for code in codes]


@pytest.mark.parametrize("period", PERIODS)
@pytest.mark.parametrize("app", ["", APP])
def test_sets_changes_and_turns_off(alice: Client, did: str, app: str, period: str) -> None:
    assert "The budget was set." in follow(alice, put(alice, app, period, "12.5"))
    assert own(did) == [(app or None, period, 12_500_000)]
    put(alice, app, period, "3")
    assert own(did) == [(app or None, period, 3_000_000)]
    [budget] = Budget.objects.all()
    assert budget.scope == ("client" if app else "account")
    assert f"Turn off the budget of $3.00 a {period} for {'app.example' if app else 'everything'}" in page_of(alice)
    assert "The budget was turned off." in follow(alice, off(alice, budget))
    assert own(did) == []
    page = page_of(alice)
    assert '<span class="tag">Off</span>' in page
    assert "Turn off</button>" not in page
    off(alice, budget)
    put(alice, app, period, "4")
    assert own(did) == [(app or None, period, 4_000_000)]
    assert Budget.objects.count() == 1


def follow(client: Client, answer: Any) -> str:
    assert (answer.status_code, answer["Location"]) == (303, "/apps")
    return page_of(client)


def page_of(client: Client) -> str:
    answer = client.get("/apps")
    assert answer.status_code == 200
    return html.unescape(answer.content.decode())


def test_shows_what_is_spent_and_held(alice: Client, did: str) -> None:
    purse = Purse("account", did).pay(1_000_000)
    settle(purse.call(300, client_id=APP), 250)
    put(alice, APP, "week", "0.001")
    purse.call(500, client_id=APP)
    purse.call(90, client_id=OTHER)
    page = page_of(alice)
    assert re.findall(r'<td class="money"[^>]*>(.*?)</td>', page) == ["$0.00025", "$0.00050", "$0.00100"]
    assert ">75% used</span>" in page
    assert 'data-label="Each">Week<' in page
    assert audit.findings() == []


def test_a_withdrawn_consent_keeps_the_budgets(alice: Client, did: str) -> None:
    consents.give(account=account("alice"), client_id=OTHER, kind="realtime", now=timezone.now())
    put(alice, OTHER)
    alice.post(f"/consents/{Consent.objects.get().pk}/withdraw")
    DeviceSession.objects.update(revoked_at=timezone.now())
    assert own(did) == [(OTHER, "month", 5_000_000)]
    page = page_of(alice)
    assert "for other.example" in page
    assert f'<option value="{OTHER}">' in page, "so that it can be changed"
    purse = Purse("account", did).pay(10_000_000)
    assert purse.reserve(5_000_001, client_id=OTHER).outcome == "budget_exceeded"


@pytest.mark.parametrize(
    ("form", "field"),
    [
        ({"limit": ""}, "limit"),
        ({"limit": "-1"}, "limit"),
        ({"limit": "much"}, "limit"),
        ({"limit": "0.0000001"}, "limit"),
        ({"limit": "1000000001"}, "limit"),
        ({"period": "year"}, "period"),
        ({"period": ""}, "period"),
        ({"app": OTHER}, "app"),
        ({"app": "\x00"}, "app"),
    ],
)
def test_a_bad_budget_is_reported_beside_its_field(alice: Client, did: str, form: dict[str, str], field: str) -> None:
    answer = put(alice, **form)
    assert answer.status_code == 400
    assert f'role="alert" id="id_{field}_error"' in answer.content.decode()
    assert not Budget.objects.exists()


def test_one_too_many_is_refused(alice: Client, did: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_budgets, "OWN_BUDGETS_MAX", 2)
    put(alice), put(alice, APP)
    answer = put(alice, APP, "day")
    assert answer.status_code == 400
    assert "You have 2 budgets, which is the limit." in text_of(answer)
    put(alice, APP, "month", "9")
    assert own(did) == [(None, "month", 5_000_000), (APP, "month", 9_000_000)]


def test_another_persons_budget_stays(alice: Client, did: str) -> None:
    put(alice, APP)
    bob = signed_in(account("bob"))
    assert off(bob, Budget.objects.get()).status_code == 303
    assert "The budget was turned off" not in page_of(bob)
    assert "$5.00" not in page_of(bob)
    assert own(did) == [(APP, "month", 5_000_000)]


def test_an_organizations_budget_is_none_of_its_owners_own(alice: Client) -> None:
    team = Team("alice")
    budget = budgets.put(Subject(("organization", team.id)), limit_microusd=5)
    off(alice, budget)
    budget.refresh_from_db()
    assert budget.disabled_at is None
    assert budget.pk not in page_of(alice)


def test_needs_a_csrf_token(did: str) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(account("alice"), backend="django.contrib.auth.backends.ModelBackend")
    budget = own_budgets.put_monthly(did=did, client_id=APP, limit_microusd=5)
    assert [put(client).status_code, off(client, budget).status_code] == [403, 403]
    assert own(did) == [(APP, "month", 5)]


def test_takes_few_statements_however_many_there_are(
    alice: Client, did: str, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(60):
        consents.give(
            account=account("alice"), client_id=f"https://a{number}.example", kind="realtime", now=timezone.now()
        )
    for period in PERIODS:
        put(alice, "", period), put(alice, APP, period)
    with django_assert_max_num_queries(FRAME_QUERIES_MAX + 10):
        page = page_of(alice)
    assert "Page 1 of 2" in page
    assert "https://a0.example" in alice.get("/apps?page=2").content.decode()


@pytest.mark.django_db(transaction=True)
def test_two_tabs_at_once_leave_one_budget() -> None:
    person = Account.objects.create_user("did:web:studio.example:tabs")
    purse = Purse("account", person.did).pay(1000)
    settle(purse.call(300), 250)

    def set_to(limit: int) -> Budget:
        return own_budgets.put(did=person.did, client_id=None, limit_microusd=limit, period=BudgetPeriod.DAY)

    at_once(*[lambda limit=limit: set_to(limit) for limit in range(1, 9)])
    [budget] = Budget.objects.all()
    assert budget.limit_microusd in range(1, 9)
    assert budget.spent_at(timezone.now()) == 250
    assert audit.findings() == []
