"""/api/organizations: the API's routes with session cookie and CSRF token."""

from typing import Any

import pytest
from django.test import Client

from accounts.models import Account
from gateway.core.json.strict import dumps
from organizations.models import Organization
from tests.factories.organizations import Team, product
from tests.portal.test_pages import SIGN_UP, sign_up

pytestmark = pytest.mark.django_db

ROOT = "/api/organizations"


class Browser:
    """A signed-in browser whose scripts read the CSRF cookie, as Django's clients do."""

    def __init__(self, email: str = SIGN_UP["email"]) -> None:
        sign_up(Client(), email=email)
        self.account = Account.objects.get(email=email)
        self.client = Client(enforce_csrf_checks=True)
        self.client.force_login(self.account, backend="django.contrib.auth.backends.ModelBackend")
        self.client.get("/organizations")

    @property
    def csrf(self) -> dict[str, str]:
        """Return the header that a change requires."""
        return {"X-CSRFToken": self.client.cookies["csrftoken"].value}

    def __call__(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        answer = self.client.generic(
            method,
            path,
            b"" if body is None else dumps(body),
            content_type="application/json",
            headers=headers or self.csrf,
        )
        return answer.status_code, answer.json()


@pytest.fixture
def alice() -> Browser:
    return Browser()


def test_the_csrf_cookie_can_be_read_by_scripts(alice: Browser) -> None:
    assert not alice.client.cookies["csrftoken"]["httponly"]


def test_a_whole_life_of_an_organization(alice: Browser) -> None:
    product("studio")
    status, founded = alice("POST", ROOT, {"name": "Acme"})
    assert (status, founded["role"]) == (201, "owner")
    org = f"{ROOT}/{founded['orgId']}"
    assert alice("GET", org) == (200, founded)
    assert alice("GET", ROOT) == (200, {"data": [founded]})
    status, invitation = alice("POST", f"{org}/invitations", {"role": "member"})
    assert status == 201
    guest = Browser("bob@example.com")
    status, joined = guest("POST", f"{ROOT}/invitations/accept", {"token": invitation["token"]})
    assert (status, joined["orgId"]) == (200, founded["orgId"])
    assert alice("PUT", f"{org}/products/studio")[1]["enabled"]
    assert alice("PUT", f"{org}/products/studio/max-seats", {"maxSeats": 1})[1]["maxSeats"] == 1
    seat = f"{org}/products/studio/seats/{joined['membershipId']}"
    assert alice("PUT", seat)[1]["assigned"]
    assert guest("GET", f"{org}/access?product=studio")[1]["allowed"]
    assert guest("GET", f"{org}/seats")[1]["data"][0]["membershipId"] == joined["membershipId"]
    status, budget = alice("PUT", f"{org}/budgets", {"scope": "org", "limitMicrousd": 5})
    assert (status, budget["limitMicrousd"]) == (200, 5)
    assert alice("GET", f"{org}/billing")[1]["budgets"] == [budget]
    assert alice("GET", f"{org}/usage")[1]["totals"]["requests"] == 0
    assert alice("DELETE", f"{org}/members/{joined['membershipId']}")[1]["status"] == "removed"
    status, error = guest("GET", org)
    assert (status, error["error"]["code"]) == (403, "not_member")
    assert guest("GET", f"{org}/access?product=studio")[1]["reason"] == "not_member"


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", ""), ("POST", ""), ("GET", "/org_1"), ("POST", "/invitations/accept"), ("PUT", "/org_1/members/mem_1")],
)
def test_without_a_session_everything_answers_401(client: Client, method: str, path: str) -> None:
    answer = client.generic(method, ROOT + path, b"{}", content_type="application/json")
    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == "invalid_token"
    assert answer["Cache-Control"] == "no-store"


@pytest.mark.parametrize("headers", [{"X-CSRFToken": "a" * 64}, {"X-Nothing": "1"}])
def test_a_change_needs_the_csrf_token(alice: Browser, headers: dict[str, str]) -> None:
    status, body = alice("POST", ROOT, {"name": "Acme"}, **headers)
    assert (status, body["error"]["code"]) == (403, "forbidden")
    assert not Organization.objects.exists()


def test_another_sites_page_changes_nothing(alice: Browser) -> None:
    status, _ = alice("POST", ROOT, {"name": "Acme"}, Origin="https://evil.example", **alice.csrf)
    assert status == 403
    assert not Organization.objects.exists()


def test_a_session_opens_no_route_for_tokens(alice: Browser) -> None:
    for path in ("/v1/organizations", "/v1/wallet"):
        assert alice("GET", path)[0] == 401


def test_a_suspended_persons_session_is_none(alice: Browser) -> None:
    from django.utils import timezone

    Account.objects.filter(pk=alice.account.pk).update(suspended_at=timezone.now())
    assert alice("GET", ROOT)[0] == 401


def test_a_trailing_slash_is_no_route(alice: Browser) -> None:
    assert alice("GET", f"{ROOT}/")[0] == 404


def test_a_strangers_organization_looks_like_none(alice: Browser) -> None:
    team = Team("oscar", "Other")
    answers = []
    for org_id in (team.id, "org_00000000000000000000000000"):
        status, body = alice("GET", f"{ROOT}/{org_id}")
        body["error"].pop("request_id")
        answers.append((status, body))
    assert answers[0] == answers[1]


def test_wrong_bodies_get_the_apis_errors(alice: Browser) -> None:
    answer = alice.client.post(ROOT, b"{", content_type="application/json", headers=alice.csrf)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_json")
    answer = alice.client.post(ROOT, b'{"name": "Acme"}', content_type="text/plain", headers=alice.csrf)
    assert (answer.status_code, answer.json()["error"]["code"]) == (415, "unsupported_media_type")


def test_only_an_owner_renames(alice: Browser) -> None:
    _, founded = alice("POST", ROOT, {"name": "Acme"})
    org = f"{ROOT}/{founded['orgId']}"
    status, renamed = alice("PUT", org, {"name": "Zenith"})
    assert (status, renamed["name"]) == (200, "Zenith")
    assert alice("GET", org) == (200, renamed)
    for body in ({}, {"name": ""}, {"name": 5}, {"name": "x" * 121}, {"name": "Mine", "role": "owner"}):
        status, refused = alice("PUT", org, body)
        assert (status, refused["error"]["code"]) == (400, "invalid_request")
    _, invitation = alice("POST", f"{org}/invitations", {"role": "admin"})
    admin, stranger = Browser("bob@example.com"), Browser("carol@example.com")
    admin("POST", f"{ROOT}/invitations/accept", {"token": invitation["token"]})
    for other, code in ((admin, "forbidden"), (stranger, "not_member")):
        status, refused = other("PUT", org, {"name": "Mine"})
        assert (status, refused["error"]["code"]) == (403, code)
    assert Organization.objects.get().name == "Zenith"


def test_renaming_is_no_route_for_tokens(alice: Browser) -> None:
    _, founded = alice("POST", ROOT, {"name": "Acme"})
    assert alice("PUT", f"/v1/organizations/{founded['orgId']}", {"name": "Mine"})[0] == 405


FORM = b'--x\r\nContent-Disposition: form-data; name="name"\r\n\r\nAcme\r\n--x--\r\n'
OTHER_TYPES = [
    "multipart/form-data; boundary=x",
    "Multipart/Form-Data; boundary=x; charset=utf-7",
    "multipart/form-data",
    f"multipart/form-data; boundary={'x' * 300}",
    "multipart/mixed; boundary=x",
    "application/x-www-form-urlencoded",
    "application/x-www-form-urlencoded; charset=nonsense",
    "text/plain",
    "application/problem+json",
    "application/*",
    "*/*",
    "nonsense",
    "",
]
WITH_BODIES = [
    ("POST", ROOT),
    ("PUT", f"{ROOT}/{{org}}"),
    ("POST", f"{ROOT}/{{org}}/invitations"),
    ("POST", f"{ROOT}/invitations/accept"),
    ("POST", f"{ROOT}/{{org}}/billing/checkout"),
    ("PUT", f"{ROOT}/{{org}}/budgets"),
]


@pytest.mark.parametrize("content_type", OTHER_TYPES)
def test_a_body_of_another_media_type_is_refused(alice: Browser, content_type: str) -> None:
    org = alice("POST", ROOT, {"name": "Acme"})[1]["orgId"]
    for method, path in WITH_BODIES:
        answer = alice.client.generic(method, path.format(org=org), FORM, content_type=content_type, headers=alice.csrf)
        refusal = (answer.status_code, answer.json()["error"]["code"])
        assert refusal == (415, "unsupported_media_type"), (method, path)
    assert alice("GET", ROOT)[1]["data"] == [alice("GET", f"{ROOT}/{org}")[1]]


def test_a_form_that_cannot_be_read_is_refused_without_a_token_too(alice: Browser) -> None:
    answer = alice.client.generic("POST", ROOT, b"no form", content_type="multipart/form-data")
    assert (answer.status_code, answer.json()["error"]["code"]) == (415, "unsupported_media_type")
