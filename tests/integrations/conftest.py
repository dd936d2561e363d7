"""Callers of the integrations. Responses are compared with the API reference."""

import json
from typing import Any

import pytest
from django.test import Client

import gateway.celery  # noqa: F401 - the application of all tasks, whose settings are those of the tests
from tests.contract.document import answer_schema, operation_at, validate
from tests.factories.accounts import Caller

NOTHING = {"data": [], "hasMore": False, "firstId": None, "lastId": None}
"""Returned for lists: nothing."""


class Api:
    """Sends JSON as any caller, and checks responses against the API reference."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def __call__(self, who: Caller, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        response = self._client.generic(
            method,
            path,
            b"" if body is None else json.dumps(body).encode(),
            content_type="application/json",
            headers={**who.headers(method, path.partition("?")[0]), **headers},
        )
        validate(response.json(), answer_schema(operation_at(method, path.partition("?")[0]), response.status_code))
        return response.status_code, response.json()


@pytest.fixture
def api(client: Client) -> Api:
    return Api(client)
