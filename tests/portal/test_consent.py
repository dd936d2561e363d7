"""/authorize over HTTP: errors, contents of the form, and who may answer."""

import html
import re
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import AuthorizationCode, AuthorizationRequest, Limit, PublicClient
from accounts.operations.limits import Rate
from accounts.portal.views import authorize
from accounts.rules import pkce
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


def allow(client: Client, path: str, *scopes: str) -> Any:
    return client.post(path, {"answer": "allow", "scope": scopes or QUERY["scope"].split()})


def test_codes_of_one_account_are_limited_and_the_request_stays_open(
    person: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(authorize, "CODES", Rate("codes", 2, seconds=600))
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
