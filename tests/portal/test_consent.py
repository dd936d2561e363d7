"""/authorize over HTTP: errors, contents of the form, and who may answer."""

import html
import re
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Account, AuthorizationCode, AuthorizationRequest, Limit, PublicClient
from accounts.rules import pkce
from billing.models import Budget
from billing.operations import own_budgets
from billing.rules.budgets import BudgetPeriod
from inference.models import Alias

pytestmark = pytest.mark.django_db

APP = "https://app.example"
QUERY = {
    "response_type": "code",
    "client_id": APP,
    "redirect_uri": f"{APP}/callback",
    "code_challenge_method": "S256",
    "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    "scope": "wallet:read usage:read",
    "state": "some state",
}


@pytest.fixture
def person(client: Client) -> Client:
    client.post("/account/signup/", {"email": "alice@example.com", "password1": "correct horse battery"})
    return client


def begin(client: Client, **changes: str) -> Any:
    return client.get("/authorize?" + urlencode({**QUERY, **changes}))


def answer_of(response: Any) -> dict[str, str]:
    assert response.status_code == 303
    assert response["Location"].startswith(f"{APP}/callback?")
    return {name: values[0] for name, values in parse_qs(urlsplit(response["Location"]).query).items()}


def allow(client: Client, path: str, *scopes: str, **form: str) -> Any:
    return client.post(path, {"answer": "allow", "scope": scopes or QUERY["scope"].split(), **form})


def again(client: Client, number: int) -> str:
    """Begin another request, and return its page's path."""
    path: str = begin(client, code_challenge=pkce.challenge_of(f"{number:043}"))["Location"]
    return path


def test_codes_of_one_account_are_limited_and_the_request_stays_open(person: Client, settings: Settings) -> None:
    settings.AUTHORIZATION_CODES_PER_ACCOUNT_10_MINUTES = 2
    verifiers = [f"{number:043}" for number in range(3)]
    paths = [begin(person, code_challenge=pkce.challenge_of(verifier))["Location"] for verifier in verifiers]
    assert ["code" in answer_of(allow(person, path)) for path in paths[:2]] == [True, True]
    refused = allow(person, paths[2])
    assert refused.status_code == 429
    assert b"Too many requests" in refused.content
    assert 1 <= int(refused["Retry-After"]) <= 600
    assert AuthorizationCode.objects.count() == 2
    Limit.objects.update(ends_at=timezone.now())
    assert "code" in answer_of(allow(person, paths[2]))


def test_asks_and_answers(person: Client) -> None:
    path = begin(person)["Location"]
    page = person.get(path).content.decode()
    assert "app.example" in page
    assert "See your credits and balance" in page
    assert "stay signed in" in page
    assert re.search(r'<button[^>]*value="allow">Allow<', page)
    assert re.search(r'<button[^>]*value="deny">Cancel<', page)
    assert QUERY["code_challenge"] not in page
    assert QUERY["state"] not in page
    answer = answer_of(allow(person, path))
    assert (answer["state"], answer["iss"]) == ("some state", "https://gateway.example")
    assert answer["code"]


def test_cancelling_denies(person: Client) -> None:
    path = begin(person)["Location"]
    assert answer_of(person.post(path, {"answer": "deny"}))["error"] == "access_denied"


def test_unticked_scopes_are_not_granted(person: Client) -> None:
    answer_of(allow(person, begin(person)["Location"], "usage:read"))
    assert AuthorizationCode.objects.get().scopes == ["usage:read"]


def test_a_stranger_signs_in_and_comes_back(client: Client) -> None:
    path = begin(client)["Location"]
    login = client.get(path)
    assert login["Location"] == f"/account/login/?next={quote(path)}"
    form = {"email": "alice@example.com", "password1": "correct horse battery", "next": path}
    assert client.post("/account/signup/", form)["Location"] == path
    assert answer_of(allow(client, path))["code"]


def test_the_policy_lets_the_answer_go_only_to_the_client(person: Client) -> None:
    path = begin(person)["Location"]
    policy = person.get(path)["Content-Security-Policy"]
    assert policy.endswith(f"form-action 'self' {APP}")


def test_the_policy_names_the_scheme_where_it_cannot_name_the_address(person: Client) -> None:
    """Browsers ignore a source with an IPv6 address, and would not follow the answer."""
    path = begin(person, client_id="agw", redirect_uri="http://[::1]:4000/callback")["Location"]
    assert person.get(path)["Content-Security-Policy"].endswith("form-action 'self' http:")


@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": "https://evil.example"},
        {"redirect_uri": "https://evil.example/"},
        {"redirect_uri": f"{APP}/cb#fragment"},
        {"redirect_uri": f"{APP}\\@evil.example"},
        {"client_id": "http://app.example", "redirect_uri": "http://app.example/cb"},
    ],
)
def test_an_untrusted_target_gets_a_page_and_no_redirect(client: Client, changes: dict[str, str]) -> None:
    response = begin(client, **changes)
    assert response.status_code == 400
    assert "Location" not in response
    assert b"This link does not work" in response.content


def test_a_line_break_in_the_redirect_uri_is_refused_at_the_edge(client: Client) -> None:
    response = begin(client, redirect_uri=f"{APP}/cb\r\nX-Evil: 1")
    assert response.status_code == 400
    assert "Location" not in response
    assert b"This request is not valid" in response.content


def test_bytes_that_are_no_text_get_the_page(client: Client) -> None:
    response = client.get("/authorize?client_id=%ff%fe")
    assert response.status_code == 400


FAULTS = [
    {"scope": "orgs:manage"},
    {"response_type": "token"},
    {"code_challenge_method": "plain"},
    {"request": "a.b.c"},
    {"state": ""},
]


@pytest.mark.parametrize("fault", FAULTS)
def test_other_faults_go_back_to_an_origin_that_the_person_has_allowed(person: Client, fault: dict[str, str]) -> None:
    answer_of(allow(person, begin(person)["Location"]))
    assert "error" in answer_of(begin(person, **fault))


@pytest.mark.parametrize("fault", FAULTS)
def test_other_faults_go_to_no_origin_that_the_person_has_not_allowed(person: Client, fault: dict[str, str]) -> None:
    answer_of(person.post(begin(person)["Location"], {"answer": "deny"}))
    other = "https://other.example"
    answer_of(allow(person, begin(person)["Location"]))
    for response in (begin(person, client_id=other, redirect_uri=f"{other}/cb", **fault), begin(Client(), **fault)):
        assert response.status_code == 400
        assert "Location" not in response


def test_what_somebody_else_allowed_counts_for_nobody_else(person: Client) -> None:
    answer_of(allow(person, begin(person)["Location"]))
    other = Client()
    other.post("/account/signup/", {"email": "mallory@example.com", "password1": "correct horse battery"})
    assert begin(other, scope="orgs:manage").status_code == 400


@pytest.mark.parametrize("trusted", [False, True])
def test_other_faults_go_back_to_a_registered_origin_at_once(client: Client, trusted: bool) -> None:
    PublicClient.objects.create(client_id=APP, name="Ours", trusted=trusted)
    assert answer_of(begin(client, scope="orgs:manage"))["error"] == "invalid_scope"


@pytest.mark.parametrize("visitor", ["client", "person"])
def test_nobody_is_redirected_to_an_origin_that_is_new(request: pytest.FixtureRequest, visitor: str) -> None:
    response = begin(request.getfixturevalue(visitor), scope="orgs:manage")
    assert response.status_code == 400
    assert "Location" not in response
    page = html.unescape(response.content.decode())
    assert f"<strong>{APP}</strong>" in page
    (link,) = re.findall(rf'href="({APP}[^"]*)"', page)
    answer = {name: values[0] for name, values in parse_qs(urlsplit(link).query).items()}
    assert (answer["error"], answer["state"]) == ("invalid_scope", "some state")
    assert answer["iss"] == "https://gateway.example"


def test_a_disabled_client_gets_a_page_and_no_redirect(person: Client) -> None:
    path = begin(person)["Location"]
    PublicClient.objects.create(client_id=APP, name="Ours", trusted=True, enabled=False)
    for response in (begin(person), begin(person, scope="orgs:manage"), person.get(path), allow(person, path)):
        assert response.status_code == 400
        assert "Location" not in response
        assert b"has disabled the app" in response.content
    assert not AuthorizationCode.objects.exists()


def test_consent_shows_the_origin_beside_a_registered_name(person: Client) -> None:
    PublicClient.objects.create(client_id=APP, name="Your Bank")
    page = person.get(begin(person)["Location"]).content.decode()
    assert re.search(r"<h1>Allow <em>app\.example</em>\?</h1>", page)
    assert f"<code>{APP}</code>, registered here as “Your Bank”" in page


def test_consent_names_the_command_line(person: Client) -> None:
    page = person.get(begin(person, client_id="agw", redirect_uri="http://[::1]:4000/")["Location"]).content.decode()
    assert "Allow <em>Command line (agw)</em>?" in page
    assert "Allow it only if you have just started <code>agw login</code> yourself" in page
    assert "registered here as" not in page
    assert "http://[::1]:4000/" in page


def test_scopes_of_enabled_aliases_can_be_requested(person: Client) -> None:
    PublicClient.objects.create(client_id=APP, name="Ours")
    assert answer_of(begin(person, scope="infer:fast"))["error"] == "invalid_scope"
    Alias.objects.create(name="fast", enabled=True)
    assert begin(person, scope="infer:fast").status_code == 302


def test_a_second_click_and_the_back_button_do_nothing(person: Client) -> None:
    path = begin(person)["Location"]
    allow(person, path)
    for response in (allow(person, path), person.get(path), person.post(path, {"answer": "deny"})):
        assert response.status_code == 400
        assert b"Start again at the app" in response.content
    assert AuthorizationCode.objects.count() == 1


def test_two_tabs_do_not_mix(person: Client) -> None:
    first = begin(person)["Location"]
    second = begin(person, code_challenge="F" + QUERY["code_challenge"][1:], state="second")["Location"]
    assert answer_of(allow(person, second))["state"] == "second"
    assert answer_of(allow(person, first))["state"] == "some state"


def test_another_browser_cannot_answer(person: Client) -> None:
    path = begin(person)["Location"]
    other = Client()
    other.post("/account/signup/", {"email": "mallory@example.com", "password1": "correct horse battery"})
    assert allow(other, path).status_code == 400
    assert AuthorizationRequest.objects.get().answered_at is None


def test_a_trusted_client_needs_no_consent(person: Client) -> None:
    PublicClient.objects.create(client_id=APP, name="Ours", trusted=True)
    assert answer_of(person.get(begin(person)["Location"]))["code"]


def test_cosmetic_parameters_change_nothing_but_looks(client: Client) -> None:
    assert begin(client, product="studio", theme="dark").status_code == 302


class TestBudget:
    """The optional monthly budget of the app."""

    @pytest.mark.parametrize(
        ("typed", "microusd"),
        [("5", 5_000_000), (" 0.000001 ", 1), ("0", 0), ("12.50", 12_500_000), ("1000000000", 10**15)],
    )
    def test_is_set_with_the_consent(self, person: Client, typed: str, microusd: int) -> None:
        path = begin(person)["Location"]
        assert 'name="budget_usd"' in person.get(path).content.decode()
        assert answer_of(allow(person, path, budget_usd=typed))["code"]
        [budget] = Budget.objects.all()
        assert (budget.scope, budget.client_id, budget.period) == ("client", APP, "month")
        assert (budget.limit_microusd, budget.disabled_at) == (microusd, None)
        account = AuthorizationCode.objects.get().account
        assert (budget.wallet.owner_kind, budget.wallet.owner_key) == ("account", account.did)

    @pytest.mark.parametrize("form", [{}, {"budget_usd": ""}, {"budget_usd": "  "}])
    def test_is_none_where_the_field_is_empty(self, person: Client, form: dict[str, str]) -> None:
        assert answer_of(allow(person, begin(person)["Location"], **form))["code"]
        assert not Budget.objects.exists()

    @pytest.mark.parametrize(
        "typed",
        [
            *(
                "-1",
                "-0.000001",
                "five",
                "5,00",
                "$5",
                "NaN",
                "sNaN",
                "Infinity",
                "1e3",
                "1e999999999",
                "1_0",
                "\u0665",
            ),
            *("0.0000001", "1000000000.01", "9" * 5000, "\x00", "5\x00", "<script>", ".", "5 5"),
        ],
    )
    def test_a_bad_one_is_reported_beside_the_field_and_nothing_is_consented(self, person: Client, typed: str) -> None:
        path = begin(person)["Location"]
        answer = allow(person, path, "usage:read", budget_usd=typed)
        page = answer.content.decode()
        assert answer.status_code == 400
        assert 'role="alert" id="id_budget_usd_error"' in page
        assert 'aria-invalid="true"' in page
        assert re.findall(r'name="scope" value="([^"]+)" checked', page) == ["usage:read"], "as it was ticked"
        assert "<script>" not in page
        assert not AuthorizationCode.objects.exists()
        assert not Budget.objects.exists()
        assert answer_of(allow(person, path, "usage:read", budget_usd="1"))["code"], "the request stays open"
        assert Budget.objects.get().limit_microusd == 1_000_000

    def test_one_that_is_cancelled_sets_nothing(self, person: Client) -> None:
        path = begin(person)["Location"]
        assert answer_of(person.post(path, {"answer": "deny", "budget_usd": "x"}))["error"] == "access_denied"
        path = again(person, 1)
        assert answer_of(allow(person, path, "orgs:read", budget_usd="5"))["error"] == "access_denied"
        assert not Budget.objects.exists()

    def test_a_refused_code_sets_none(self, person: Client) -> None:
        first, second = begin(person)["Location"], begin(person)["Location"]
        answer_of(allow(person, first, budget_usd="5"))
        assert answer_of(allow(person, second, budget_usd="7"))["error"] == "invalid_request"
        assert Budget.objects.get().limit_microusd == 5_000_000

    def test_a_consent_without_the_field_keeps_it(self, person: Client) -> None:
        answer_of(allow(person, begin(person)["Location"], budget_usd="5"))
        for form in ({}, {"budget_usd": ""}):
            answer_of(allow(person, again(person, len(form) + 1), **form))
            assert Budget.objects.get().limit_microusd == 5_000_000
        answer_of(allow(person, again(person, 3), budget_usd="2.5"))
        assert Budget.objects.get().limit_microusd == 2_500_000

    def test_the_page_shows_what_there_is(self, person: Client) -> None:
        answer_of(allow(person, begin(person)["Location"], budget_usd="5"))
        did = AuthorizationCode.objects.get().account.did
        own_budgets.put(did=did, client_id=APP, limit_microusd=1_000_000, period=BudgetPeriod.DAY)
        own_budgets.put(did=did, client_id="https://other.example", limit_microusd=77, period=BudgetPeriod.MONTH)
        Budget.objects.filter(period="month").update(spent_microusd=1_250_000)
        page = person.get(again(person, 1)).content.decode()
        assert re.findall(r"<strong>(\$[^<]+)</strong>, of which (\S+) is used", page) == [
            ("$5.00 a month", "$1.25"),
            ("$1.00 a day", "$0.00"),
        ]
        Budget.objects.update(disabled_at=timezone.now())
        assert "of which" not in person.get(again(person, 2)).content.decode()

    def test_the_field_has_what_is_in_force_and_sets_only_a_change(self, person: Client) -> None:
        answer_of(allow(person, begin(person)["Location"], budget_usd="1234.5"))
        path = again(person, 1)
        page = person.get(path).content.decode()
        sent = {
            name: re.findall(rf'name="{name}" value="([^"]*)"', page) for name in ("budget_usd", "initial-budget_usd")
        }
        assert sent == {"budget_usd": ["1234.50"], "initial-budget_usd": ["1234.50"]}
        Budget.objects.update(limit_microusd=1_000_000)  # lowered in another tab
        form = {name: found for name, [found] in sent.items()}
        answer_of(allow(person, path, **form))
        assert Budget.objects.get().limit_microusd == 1_000_000
        answer_of(allow(person, again(person, 2), **form | {"initial-budget_usd": "1"}))
        assert Budget.objects.get().limit_microusd == 1_234_500_000
        answer_of(allow(person, again(person, 3), budget_usd="3", **{"initial-budget_usd": "<x>"}))
        assert Budget.objects.get().limit_microusd == 3_000_000

    def test_without_a_budget_the_field_is_empty(self, person: Client) -> None:
        did = Account.objects.get().did
        own_budgets.put(did=did, client_id=APP, limit_microusd=1_000_000, period=BudgetPeriod.DAY)
        own_budgets.put(did=did, client_id=None, limit_microusd=1_000_000, period=BudgetPeriod.MONTH)
        page = person.get(begin(person)["Location"]).content.decode()
        assert not re.search(r'name="budget_usd" value=', page)

    def test_one_too_many_is_reported_beside_the_field(self, person: Client, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(own_budgets, "OWN_BUDGETS_MAX", 1)
        answer_of(allow(person, begin(person)["Location"], budget_usd="5"))
        answer_of(allow(person, again(person, 1), budget_usd="6"))
        other = {"client_id": "https://other.example", "redirect_uri": "https://other.example/cb"}
        path = begin(person, code_challenge=pkce.challenge_of("o" * 43), **other)["Location"]
        answer = allow(person, path, budget_usd="5")
        assert answer.status_code == 400
        assert "You have 1 budgets, which is the limit." in answer.content.decode()
        assert AuthorizationCode.objects.count() == 2
        assert allow(person, path).status_code == 303

    def test_a_trusted_client_is_not_asked_and_keeps_it(self, person: Client) -> None:
        answer_of(allow(person, begin(person)["Location"], budget_usd="5"))
        PublicClient.objects.create(client_id=APP, name="Ours", trusted=True)
        assert answer_of(person.get(again(person, 1)))["code"]
        assert Budget.objects.get().limit_microusd == 5_000_000
