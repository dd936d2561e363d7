"""Integrations and public clients in the console: checked as in the file."""

import json

import pytest
from django.test import Client

from accounts.models import Integration, PublicClient
from tests.gateway.operators import address, errors

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("configured")]


def test_an_integration_takes_public_keys_and_known_capabilities_alone(operator: Client) -> None:
    integration = Integration.objects.get()
    form = {
        "issuer": integration.issuer,
        "product": "studio",
        "audience": integration.audience,
        "did_prefix": integration.did_prefix,
        "capabilities": "wallet:read\r\ninfer:*\r\n",
        "jwks": json.dumps(integration.jwks),
        "enabled": "on",
    }
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
        ({"client_id": "app2", "redirect_uris": "javascript:alert(1)"}, "redirect_uris"),
    ):
        assert list(errors(operator.post(address("accounts_publicclient_add"), form | broken))) == [field]
    assert PublicClient.objects.count() == 2
