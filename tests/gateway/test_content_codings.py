"""Bodies with a content coding, on the routes outside the metering core. RFC 9110 sections 8.4 and 15.5.16."""

import gzip
import json
from typing import Any

import pytest
from django.test import Client

from gateway.core.contract.capabilities import Capability
from organizations.models import Organization
from tests.factories.accounts import make_caller

pytestmark = pytest.mark.django_db

PATH = "/v1/organizations"
BODY = json.dumps({"name": "Acme"}).encode()


def found(client: Client, coding: str, body: bytes = BODY) -> Any:
    headers = {**make_caller(Capability.ORGS_MANAGE).headers("POST", PATH), "Content-Encoding": coding}
    return client.post(PATH, body, content_type="application/json", headers=headers)


@pytest.mark.parametrize("coding", ["gzip", "x-gzip", "GZIP", "identity, br", "deflate,identity", "none"])
def test_a_body_with_a_content_coding_is_refused(client: Client, coding: str) -> None:
    answer = found(client, coding, gzip.compress(BODY))
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (415, "unsupported_media_type", "Content-Encoding")
    assert answer["Accept-Encoding"] == "identity"
    assert not Organization.objects.exists()


@pytest.mark.parametrize("coding", ["", "identity", " Identity , identity"])
def test_one_without_is_read(client: Client, coding: str) -> None:
    assert found(client, coding).status_code == 201
