"""Sec-Fetch-Site: a browser's word on where a request came from is believed."""

from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from organizations.models import Organization
from tests.portal.test_organization_session import ROOT, Browser
from tests.portal.test_pages import SIGN_UP

pytestmark = pytest.mark.django_db

FOREIGN = ["cross-site", "same-site", "unheard-of"]


@pytest.fixture
def alice() -> Browser:
    return Browser()


@pytest.mark.parametrize("site", FOREIGN)
def test_a_foreign_page_changes_nothing_even_with_a_csrf_token(alice: Browser, site: str) -> None:
    status, body = alice("POST", ROOT, {"name": "Acme"}, **alice.csrf, **{"Sec-Fetch-Site": site})
    assert (status, body["error"]["code"]) == (403, "forbidden")
    form = {"name": "Acme", "csrfmiddlewaretoken": alice.client.cookies["csrftoken"].value}
    assert alice.client.post("/organizations", form, headers={"Sec-Fetch-Site": site}).status_code == 403
    assert not Organization.objects.exists()


@pytest.mark.parametrize("headers", [{}, {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}])
def test_its_own_pages_and_clients_without_the_header_may(alice: Browser, headers: dict[str, str]) -> None:
    assert alice("POST", ROOT, {"name": "Acme"}, **alice.csrf, **headers)[0] == 201
    form = {"name": "Acme", "csrfmiddlewaretoken": alice.client.cookies["csrftoken"].value}
    assert alice.client.post("/organizations", form, headers=headers).status_code == 303


def test_a_trusted_origin_of_the_same_site_may(alice: Browser, settings: Settings) -> None:
    settings.CSRF_TRUSTED_ORIGINS = ["https://home.example"]
    headers = {"Sec-Fetch-Site": "same-site", "Origin": "https://home.example"}
    assert alice("POST", ROOT, {"name": "Acme"}, **alice.csrf, **headers)[0] == 201
    headers["Sec-Fetch-Site"] = "cross-site"
    assert alice("POST", ROOT, {"name": "Acme"}, **alice.csrf, **headers)[0] == 403


@pytest.mark.parametrize("site", FOREIGN)
def test_reading_is_left_alone(alice: Browser, site: str) -> None:
    assert alice.client.get("/organizations", headers={"Sec-Fetch-Site": site}).status_code == 200
    assert alice("GET", ROOT, None, **{"Sec-Fetch-Site": site})[0] == 200


def test_nobody_is_signed_in_by_another_site(client: Client) -> None:
    response: Any = client.post("/account/signup/", SIGN_UP, headers={"Sec-Fetch-Site": "cross-site"})
    assert response.status_code == 403
    assert "_auth_user_id" not in client.session


def test_token_routes_serve_every_site(client: Client) -> None:
    headers = {"Sec-Fetch-Site": "cross-site"}
    response: Any = client.post("/v1/public/token", {}, content_type="application/json", headers=headers)
    assert response.json()["error"] == "invalid_request"
