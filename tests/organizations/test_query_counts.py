"""The number of SQL statements of each organization route, for any size of organization. An increase needs a reason."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.factories.accounts import Caller
from tests.factories.organizations import Team
from tests.factories.proofs import Signer, mint_token

pytestmark = pytest.mark.django_db

SCOPES = (
    "orgs:read",
    "orgs:manage",
    "members:manage",
    "products:manage",
    "seats:manage",
    "budgets:manage",
    "wallet:read",
    "usage:read",
)
STATEMENTS = {
    ("GET", "", None): 3,
    # Who comes, goes, or gets or loses a seat is recorded for product servers by one statement, whatever their number.
    # New organizations, invitations and reports are limited, which is one statement each.
    ("POST", "", '{"name": "Other"}'): 12,
    ("GET", "/{org}", None): 3,
    ("GET", "/{org}/members", None): 3,
    ("PUT", "/{org}/members/{bob}", '{"role": "admin"}'): 10,
    ("DELETE", "/{org}/members/{bob}", None): 12,
    ("GET", "/{org}/invitations", None): 3,
    ("POST", "/{org}/invitations", '{"role": "member"}'): 9,
    ("GET", "/{org}/products", None): 3,
    ("PUT", "/{org}/products/courier", None): 7,
    ("DELETE", "/{org}/products/studio", None): 12,
    ("PUT", "/{org}/products/studio/max-seats", '{"maxSeats": 9}'): 10,
    ("GET", "/{org}/seats", None): 3,
    ("PUT", "/{org}/products/studio/seats/{bob}", None): 13,
    ("DELETE", "/{org}/products/studio/seats/{bob}", None): 9,
    ("GET", "/{org}/access?product=studio", None): 4,
    # Of these, invoices, dated seat prices and external mappings take one each.
    ("GET", "/{org}/billing", None): 13,
    ("GET", "/{org}/billing/members", None): 3,
    ("GET", "/{org}/usage?month=current", None): 9,
    # The first budget of a subject sums its month in two parts, the larger one before the wallet is locked, and then checks
    # that the month has not changed. One statement records the thresholds that it has reached.
    ("PUT", "/{org}/budgets", '{"scope": "org", "limitMicrousd": 5}'): 21,
}


@pytest.mark.parametrize(("route", "most"), STATEMENTS.items(), ids=[f"{m} {p}" for m, p, _ in STATEMENTS])
def test_a_route_takes_few_statements(client: Client, route: tuple[str, str, Any], most: int) -> None:
    method, path, body = route
    team = Team()
    for name in ("bob", "carla", "dora"):
        team.join(name)
    team.enable("studio")
    team.enable("courier")
    signer = Signer()
    caller = Caller(team.owner, SCOPES, signer, mint_token(team.owner.did, SCOPES, signer))
    path = "/v1/organizations" + path.format(org=team.id, bob=team["bob"].id)
    headers = caller.headers(method, path.partition("?")[0])
    with CaptureQueriesContext(connection) as taken:
        response = client.generic(method, path, body or b"", content_type="application/json", headers=headers)
    assert response.status_code in (200, 201), response.content
    statements = [one["sql"] for one in taken if "SAVEPOINT" not in one["sql"]]
    assert len(statements) <= most, "\n".join(statements)
