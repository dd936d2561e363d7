"""GET /v1/account."""

import pytest
from django.test import Client

from tests.factories.accounts import make_caller

pytestmark = pytest.mark.django_db


def test_tells_whose_token_it_is(client: Client) -> None:
    caller = make_caller("wallet:read", "usage:read", product="studio")
    response = client.get("/v1/account", headers=caller.headers("GET", "/v1/account"))
    assert response.status_code == 200, response.content
    print(response.json(), response.headers)
    assert response["Cache-Control"] == "no-store"
