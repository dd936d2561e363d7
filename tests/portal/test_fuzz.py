"""All forms of the portal with arbitrary input: a readable page, never a 500, and no records from invalid input."""

import re
from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib.auth import SESSION_KEY
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import Account, AuthorizationCode
from tests.factories.accounts import make_account

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("untracked", "unrecorded_pages")]

CONTROL = re.compile(rb"[\x00-\x1f\x7f]|%(?:[01][0-9A-Fa-f]|7[Ff])")
QUICK = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
TEXT = st.text(max_size=60) | st.sampled_from(
    ["", "\x00", "a@b.example", "' OR 1=1 --", "<script>", "\u202e", "9" * 400, "../.."]
)
FORMS = {
    "/account/signup/": ("email", "name", "password1", "next"),
    "/account/name/": ("display_name",),
    "/account/login/": ("login", "password", "next"),
    "/account/password/reset/": ("email",),
    "/account/password/change/": ("oldpassword", "password1", "password2"),
    "/account/2fa/authenticate/": ("code", "credential"),
    "/account/2fa/totp/activate/": ("code",),
    "/account/sessions/": ("session",),
    "/devices/dev_1/revoke": ("x",),
    "/wallet/payments": ("amount", "key"),
    "/apps": ("app", "period", "limit"),
    "/apps/budgets/bud_1/disable": ("x",),
    "/apps/revoke": ("client_id",),
    "/authorize/areq_1": ("answer", "scope", "budget_usd"),
}
PARAMETERS = ("response_type", "client_id", "redirect_uri", "code_challenge", "code_challenge_method", "scope", "state")


@pytest.mark.parametrize("signed_in", [False, True], ids=["stranger", "signed in"])
@pytest.mark.parametrize("path", FORMS)
@QUICK
@given(data=st.data())
def test_any_form_gets_an_answer(client: Client, path: str, signed_in: bool, data: st.DataObject) -> None:
    cache.clear()
    if signed_in and SESSION_KEY not in client.session:  # a form may have signed the person out
        client.force_login(_person())
    form = data.draw(st.fixed_dictionaries({}, optional=dict.fromkeys(FORMS[path], TEXT)))
    response = client.post(path, form)
    assert response.status_code < 500
    assert not response.get("Location", "").startswith(("//", "http", "javascript"))
    assert AuthorizationCode.objects.count() == 0


@QUICK
@given(query=st.dictionaries(st.sampled_from(PARAMETERS) | st.text(max_size=8), TEXT, max_size=8))
def test_any_authorization_request_gets_an_answer(client: Client, query: dict[str, str]) -> None:
    response = client.get(reverse("portal_authorize") + "?" + urlencode(query))
    assert response.status_code in (302, 303, 400)
    if response.status_code == 400:
        assert "Location" not in response


@QUICK
@given(raw=st.binary(max_size=60))
def test_any_bytes_in_a_query_get_an_answer(client: Client, raw: bytes) -> None:
    environment: Any = {"QUERY_STRING": raw.decode("latin-1")}
    assert client.get("/authorize", **environment).status_code in (302, 303, 400)
    is_clean = not CONTROL.search(raw)
    assert client.get("/account/login/", **environment).status_code == (200 if is_clean else 400)


def _person() -> Account:
    return Account.objects.filter(did="did:web:gateway.example:accounts:fuzz").first() or make_account(
        "did:web:gateway.example:accounts:fuzz", email="fuzz@example.com", password="correct horse battery"
    )
