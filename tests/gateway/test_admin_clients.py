"""Integrations and public clients in the console: checked as in the file."""

import json
from collections.abc import Callable

import pytest
from django.test import Client

from account_gateway_client import ProductKey
from accounts.models import Integration, PublicClient
from tests.gateway.operators import address, errors

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("configured")]

NO_REFUSALS = {"refusals-TOTAL_FORMS": "0", "refusals-INITIAL_FORMS": "0"}
"""What the page's form has for its list of refused assertions."""


def test_an_integration_takes_only_public_keys_and_known_capabilities(operator: Client) -> None:
    integration = Integration.objects.get()
    form = {
        "issuer": integration.issuer,
        "product": "studio",
        "audience": integration.audience,
        "did_prefix": integration.did_prefix,
        "capabilities": "wallet:read\r\ninfer:*\r\n",
        "jwks": json.dumps(integration.jwks),
        "enabled": "on",
    } | NO_REFUSALS
    page = address("accounts_integration_change", integration.pk)
    assert operator.post(page, form).status_code == 303
    integration.refresh_from_db()
    assert integration.capabilities == ["wallet:read", "infer:*"]

    private = {"keys": [integration.jwks["keys"][0] | {"d": "AAAA"}]}
    for broken, field in (
        ({"capabilities": "wallet:write"}, "capabilities"),
        ({"capabilities": ""}, "capabilities"),
        ({"jwks": json.dumps(private)}, "jwks"),
        ({"jwks": "{}"}, "jwks"),
        ({"issuer": "http://studio.example"}, "issuer"),
        ({"did_prefix": "studio"}, "did_prefix"),
    ):
        assert list(errors(operator.post(page, form | broken))) == [field]
    integration.refresh_from_db()
    assert integration.capabilities == ["wallet:read", "infer:*"]


def integration_form(**members: str) -> dict[str, str]:
    return (
        {
            "issuer": "https://other.example",
            "product": "studio",
            "audience": "https://gateway.example",
            "did_prefix": "did:web:other.example:",
            "capabilities": "wallet:read",
            "enabled": "on",
        }
        | NO_REFUSALS
        | members
    )


@pytest.mark.parametrize("printed", [str, json.dumps])
def test_an_integration_takes_what_the_python_client_prints(operator: Client, printed: Callable[[object], str]) -> None:
    jwks = ProductKey.generate().public_jwks()
    add = address("accounts_integration_add")
    assert operator.post(add, integration_form(jwks=printed(jwks))).status_code == 303
    assert Integration.objects.get(issuer="https://other.example").jwks == jwks


@pytest.mark.parametrize("printed", [str, json.dumps])
def test_an_integration_takes_one_key_as_a_set(operator: Client, printed: Callable[[object], str]) -> None:
    jwks = ProductKey.generate().public_jwks()
    add = address("accounts_integration_add")
    assert operator.post(add, integration_form(jwks=printed(jwks["keys"][0]))).status_code == 303
    assert Integration.objects.get(issuer="https://other.example").jwks == jwks


def test_an_integration_refuses_keys_that_are_not_json_or_private(operator: Client) -> None:
    jwks = ProductKey.generate().public_jwks()
    add = address("accounts_integration_add")
    for other in ("-----BEGIN PUBLIC KEY-----", "{'keys': [", str(jwks) + "'"):
        refused = operator.post(add, integration_form(jwks=other))
        assert errors(refused) == {"jwks": ["This is not JSON. Enter what print(key.public_jwks()) shows."]}
    private = jwks["keys"][0] | {"d": "AAAA"}
    for printed in (str(private), json.dumps(private)):
        assert list(errors(operator.post(add, integration_form(jwks=printed)))) == ["jwks"]
    assert not Integration.objects.filter(issuer="https://other.example").exists()


def test_a_public_client_is_checked_as_in_the_file(operator: Client) -> None:
    form = {
        "client_id": "https://app.example",
        "name": "App",
        "redirect_uris": "https://app.example/cb",
        "enabled": "on",
    }
    assert operator.post(address("accounts_publicclient_add"), form).status_code == 303
    assert PublicClient.objects.get(name="App").redirect_uris == ["https://app.example/cb"]
    for broken, field in (
        ({"client_id": "https://app2.example/"}, "client_id"),
        ({"client_id": "https://app2.example"}, "redirect_uris"),
        ({"client_id": "app2", "redirect_uris": ""}, "redirect_uris"),
        ({"client_id": "agw", "redirect_uris": "", "trusted": "on"}, "redirect_uris"),
        ({"client_id": "app2", "redirect_uris": "javascript:alert(1)"}, "redirect_uris"),
    ):
        assert list(errors(operator.post(address("accounts_publicclient_add"), form | broken))) == [field]
    assert PublicClient.objects.count() == 2
