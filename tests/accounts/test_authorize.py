"""Authorization requests: validation errors, and the results of allowing and denying."""

from datetime import datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.utils import timezone

from accounts.models import Account, AuthorizationCode, AuthorizationRequest, PublicClient
from accounts.operations import authorize, model_names
from accounts.operations.model_names import ModelNames
from accounts.rules.public_clients import ClientError
from tests.factories.accounts import make_account
from tests.factories.proofs import BASE_URL

pytestmark = pytest.mark.django_db

APP = "https://app.example"
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
GOOD = {
    "response_type": ["code"],
    "client_id": [APP],
    "redirect_uri": [f"{APP}/callback"],
    "code_challenge_method": ["S256"],
    "code_challenge": [CHALLENGE],
    "scope": ["wallet:read infer:fast"],
    "state": ["xyz&=+ "],
}


@pytest.fixture(autouse=True)
def aliases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        model_names, "_registered", ModelNames(known=tuple, enabled=lambda: ["fast"], callable_now=tuple)
    )


@pytest.fixture
def now() -> datetime:
    return timezone.now()


@pytest.fixture
def alice() -> Account:
    return make_account("alice")


def begin(now: datetime, **changes: Any) -> AuthorizationRequest:
    parameters = {name: value for name, value in {**GOOD, **changes}.items() if value is not None}
    return authorize.begin(parameters, browser_secret="browser", now=now)


def answer_of(location: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(location).query, keep_blank_values=True).items()}


def allow(request: AuthorizationRequest, account: Account, now: datetime, scopes: Any = None, **more: Any) -> str:
    secret = more.get("browser_secret", "browser")
    return authorize.allow(request.id, browser_secret=secret, account=account, scopes=scopes or request.scopes, now=now)


def test_allowing_gives_a_code_the_state_and_the_issuer(alice: Account, now: datetime) -> None:
    location = allow(begin(now), alice, now)
    assert location.startswith(f"{APP}/callback?")
    answer = answer_of(location)
    assert len(answer.pop("code")) >= 43
    assert answer == {"state": "xyz&=+ ", "iss": BASE_URL}
    code = AuthorizationCode.objects.get()
    assert code.scopes == ["wallet:read", "infer:fast"]
    assert code.expires_at - code.created_at == timedelta(seconds=60)


def test_a_redirect_uri_with_a_query_keeps_it(alice: Account, now: datetime) -> None:
    location = allow(begin(now, redirect_uri=[f"{APP}/cb?a=b"]), alice, now)
    assert location.startswith(f"{APP}/cb?a=b&code=")


def test_denying_says_so(now: datetime) -> None:
    request = begin(now)
    location = authorize.deny(request.id, browser_secret="browser", now=now)
    assert answer_of(location) == {"error": "access_denied", "state": "xyz&=+ ", "iss": BASE_URL}


def test_scopes_are_individually_refusable(alice: Account, now: datetime) -> None:
    allow(begin(now), alice, now, scopes=["wallet:read", "orgs:manage", "usage:read"])
    assert AuthorizationCode.objects.get().scopes == ["wallet:read"]


def test_refusing_every_scope_is_a_denial(alice: Account, now: datetime) -> None:
    location = allow(begin(now), alice, now, scopes=["nothing"])
    assert answer_of(location)["error"] == "access_denied"
    assert not AuthorizationCode.objects.exists()


def test_realtime_consent_is_recorded_only_with_its_scope(alice: Account, now: datetime) -> None:
    request = begin(now, scope=["realtime:connect wallet:read"])
    allow(request, alice, now)
    assert AuthorizationCode.objects.get().consents == ["realtime"]


CLIENT_FAULTS: dict[str, dict[str, Any]] = {
    "no client": {"client_id": None},
    "two clients": {"client_id": [APP, APP]},
    "not an origin": {"client_id": ["app"]},
    "no redirect": {"redirect_uri": None},
    "two redirects": {"redirect_uri": [f"{APP}/a", f"{APP}/b"]},
    "elsewhere": {"redirect_uri": ["https://evil.example/"]},
    "fragment": {"redirect_uri": [f"{APP}/#x"]},
}

REDIRECTED_FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "no response type": ({"response_type": None}, "invalid_request"),
    "implicit": ({"response_type": ["token"]}, "unsupported_response_type"),
    "hybrid": ({"response_type": ["code id_token"]}, "unsupported_response_type"),
    "two response types": ({"response_type": ["code", "code"]}, "invalid_request"),
    "no challenge": ({"code_challenge": None}, "invalid_request"),
    "plain challenge": ({"code_challenge_method": ["plain"]}, "invalid_request"),
    "no method": ({"code_challenge_method": None}, "invalid_request"),
    "padded challenge": ({"code_challenge": [CHALLENGE + "="]}, "invalid_request"),
    "no state": ({"state": None}, "invalid_request"),
    "empty state": ({"state": [""]}, "invalid_request"),
    "state with a line break": ({"state": ["a\r\nb"]}, "invalid_request"),
    "no scope": ({"scope": None}, "invalid_scope"),
    "empty scope": ({"scope": [""]}, "invalid_scope"),
    "two spaces": ({"scope": ["wallet:read  usage:read"]}, "invalid_scope"),
    "management": ({"scope": ["wallet:read orgs:manage"]}, "invalid_scope"),
    "deletion": ({"scope": ["responses:delete"]}, "invalid_scope"),
    "evolution": ({"scope": ["evolution:read"]}, "invalid_scope"),
    "sandbox": ({"scope": ["sandbox:run"]}, "invalid_scope"),
    "unknown alias": ({"scope": ["infer:nothing"]}, "invalid_scope"),
    "wildcard": ({"scope": ["infer:*"]}, "invalid_scope"),
    "request object": ({"request": ["ey"]}, "request_not_supported"),
    "request uri": ({"request_uri": ["urn:x"]}, "request_uri_not_supported"),
    "fragment mode": ({"response_mode": ["fragment"]}, "invalid_request"),
    "bad thumbprint": ({"dpop_jkt": ["short"]}, "invalid_request"),
}


@pytest.mark.parametrize("changes", CLIENT_FAULTS.values(), ids=CLIENT_FAULTS.keys())
def test_a_faulty_client_or_redirect_never_redirects(changes: dict[str, Any], now: datetime) -> None:
    with pytest.raises(ClientError):
        begin(now, **changes)


@pytest.mark.parametrize(("changes", "error"), REDIRECTED_FAULTS.values(), ids=REDIRECTED_FAULTS.keys())
def test_every_other_fault_goes_back_to_the_client(changes: dict[str, Any], error: str, now: datetime) -> None:
    with pytest.raises(authorize.Refused) as refused:
        begin(now, **changes)
    answer = answer_of(refused.value.location)
    assert answer["error"] == error
    assert answer["iss"] == BASE_URL
    assert answer.get("state") == (GOOD["state"][0] if "state" not in changes else None)
    assert not AuthorizationRequest.objects.exists()


def test_only_a_registered_client_has_another_scheme(alice: Account, now: datetime) -> None:
    mobile: dict[str, Any] = {"client_id": ["mobile"], "redirect_uri": ["com.example.app:/callback"]}
    with pytest.raises(ClientError):
        begin(now, **mobile)
    client = PublicClient.objects.create(client_id="mobile", name="Phone", redirect_uris=mobile["redirect_uri"])
    assert allow(begin(now, **mobile), alice, now).startswith("com.example.app:/callback?code=")
    client.enabled = False
    client.save()
    with pytest.raises(ClientError):
        begin(now, **mobile)


COMMAND_LINE: dict[str, Any] = {"client_id": ["agw"], "redirect_uri": ["http://127.0.0.1:53219/callback"]}


def test_the_command_line_needs_no_row(alice: Account, now: datetime) -> None:
    assert allow(begin(now, **COMMAND_LINE), alice, now).startswith("http://127.0.0.1:53219/callback?code=")
    with pytest.raises(ClientError):
        begin(now, **COMMAND_LINE | {"redirect_uri": ["https://app.example/callback"]})


def test_the_command_line_can_be_disabled_and_never_trusted(now: datetime) -> None:
    row = PublicClient.objects.create(
        client_id="agw", name="Ours", trusted=True, redirect_uris=["https://app.example/"]
    )
    request = begin(now, **COMMAND_LINE)
    assert authorize.needs_consent(request)
    assert authorize.may_redirect_error("agw", None)
    with pytest.raises(ClientError):
        begin(now, **COMMAND_LINE | {"redirect_uri": row.redirect_uris})
    PublicClient.objects.filter(pk=row.pk).update(enabled=False)
    for answer in (
        lambda: begin(now, **COMMAND_LINE),
        lambda: authorize.pending(request.id, browser_secret="browser", now=now),
    ):
        with pytest.raises(ClientError):
            answer()
    assert not authorize.may_redirect_error("agw", None)


def test_everybody_but_a_trusted_client_needs_consent(now: datetime) -> None:
    request = begin(now)
    assert authorize.needs_consent(request)
    PublicClient.objects.create(client_id=APP, name="Ours", trusted=True)
    assert not authorize.needs_consent(request)


def test_a_request_is_answered_once(alice: Account, now: datetime) -> None:
    request = begin(now)
    allow(request, alice, now)
    with pytest.raises(authorize.RequestGone):
        allow(request, alice, now)
    with pytest.raises(authorize.RequestGone):
        authorize.deny(request.id, browser_secret="browser", now=now)
    assert AuthorizationCode.objects.count() == 1


def test_another_browser_cannot_answer(alice: Account, now: datetime) -> None:
    with pytest.raises(authorize.RequestGone):
        allow(begin(now), alice, now, browser_secret="another")


def test_a_request_waits_ten_minutes(alice: Account, now: datetime) -> None:
    request = begin(now)
    with pytest.raises(authorize.RequestGone):
        allow(request, alice, now + timedelta(minutes=10))


def test_a_challenge_serves_one_authorization(alice: Account, now: datetime) -> None:
    first, second = begin(now), begin(now)
    assert "code" in answer_of(allow(first, alice, now))
    assert answer_of(allow(second, alice, now))["error"] == "invalid_request"
    assert AuthorizationCode.objects.count() == 1
