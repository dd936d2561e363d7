"""The organization routes over HTTP: whole bodies, bad input, context tokens, and pinned query counts."""

from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from accounts.rules import jwt
from gateway.core.contract.capabilities import Capability
from gateway.core.json.strict import dumps
from organizations.models import Organization
from organizations.operations import invitations, members, products, seats
from organizations.rules.roles import Role
from tests.contract.document import answer_schema, operation_at, validate
from tests.factories.accounts import Caller
from tests.factories.organizations import Team, account
from tests.factories.proofs import Signer, mint_token

pytestmark = pytest.mark.django_db

ALL = tuple(
    Capability(name)
    for name in (
        "orgs:read",
        "orgs:manage",
        "members:manage",
        "products:manage",
        "seats:manage",
        "wallet:read",
    )
)


def caller(name: str = "olivia", scopes: tuple[str, ...] = ALL, **fields: Any) -> Caller:
    signer = Signer()
    who = account(name)
    return Caller(who, scopes, signer, mint_token(who.did, scopes, signer, **fields))


class Api:
    """Sends JSON as one caller, and checks responses against the API reference."""

    def __init__(self, client: Client, who: Caller) -> None:
        self.client, self.who = client, who

    def __call__(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        path = "/v1" + path
        response = self.client.generic(
            method,
            path,
            b"" if body is None else dumps(body),
            content_type="application/json",
            headers=self.who.headers(method, path.partition("?")[0]),
        )
        described = answer_schema(operation_at(method, path), response.status_code)
        validate(response.json(), described)
        return response.status_code, response.json()


@pytest.fixture
def api(client: Client) -> Api:
    return Api(client, caller())


def test_founding_answers_the_whole_organization(api: Api) -> None:
    status, body = api("POST", "/organizations", {"name": "  Acme  "})
    assert status == 201
    assert body.pop("createdAt").endswith("Z")
    org_id, membership_id = body.pop("orgId"), body.pop("membershipId")
    assert (org_id[:4], membership_id[:4]) == ("org_", "mem_")
    assert body == {"name": "Acme", "role": "owner", "version": 1, "products": []}
    assert api("GET", f"/organizations/{org_id}")[1]["membershipId"] == membership_id
    assert [one["orgId"] for one in api("GET", "/organizations")[1]["data"]] == [org_id]


BAD_NAMES = ["", "   ", "x" * 121, 7, None, True, ["Acme"], {"a": 1}, "nul\x00"]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_bad_name_is_named(api: Api, name: Any) -> None:
    status, body = api("POST", "/organizations", {"name": name})
    assert (status, body["error"]["code"], body["error"]["param"]) == (400, "invalid_request", "name")
    assert not Organization.objects.exists()


def test_a_typo_does_not_pass(api: Api) -> None:
    status, body = api("POST", "/organizations", {"name": "Acme", "owner": "did:web:studio.example:bob"})
    assert (status, body["error"]["param"]) == (400, "owner")


def test_members_are_refused_where_a_request_has_none(api: Api) -> None:
    team = Team()
    team.enable("studio")
    product = f"/organizations/{team.id}/products/studio"
    for path in (product, f"{product}/seats/{team['olivia'].id}"):
        status, body = api("PUT", path, {"maxSeats": 1})
        assert (status, body["error"]["code"], body["error"]["param"]) == (400, "invalid_request", "maxSeats")
        assert api("PUT", path)[0] == api("PUT", path, {})[0] == 200


def test_every_list_takes_a_limit(api: Api) -> None:
    team = Team()
    team.join("mia", Role.MEMBER)
    for product in ("studio", "courier"):
        team.enable(product)
        api("PUT", f"/organizations/{team.id}/products/{product}/seats/{team['olivia'].id}")
        api("POST", f"/organizations/{team.id}/invitations", {"role": "member"})
    api("POST", "/organizations", {"name": "Other"})
    lists = ("members", "billing/members", "invitations", "products", "seats")
    for path in ("/organizations", *(f"/organizations/{team.id}/{of}" for of in lists)):
        every = api("GET", path)[1]["data"]
        assert len(every) == 2
        assert api("GET", f"{path}?limit=1") == (200, {"data": every[:1]})
        assert api("GET", f"{path}?limit=100") == (200, {"data": every})
        for limit in ("0", "101", "x", ""):
            status, body = api("GET", f"{path}?limit={limit}")
            assert (status, body["error"]["code"], body["error"]["param"]) == (400, "invalid_request", "limit")


def test_products_show_their_seats(api: Api) -> None:
    team = Team()
    team.enable("studio", cap=5)
    assert api("GET", f"/organizations/{team.id}/products") == (
        200,
        {"data": [{"product": "studio", "enabled": True, "maxSeats": 5, "assignedSeats": 0, "version": 2}]},
    )
    status, body = api("PUT", f"/organizations/{team.id}/products/no-such")
    assert (status, body["error"]["code"]) == (404, "not_found")


@pytest.mark.parametrize("cap", [-1, 1.5, "3", True, 10**9])
def test_a_bad_cap_is_named(api: Api, cap: Any) -> None:
    team = Team()
    team.enable("studio")
    status, body = api("PUT", f"/organizations/{team.id}/products/studio/max-seats", {"maxSeats": cap})
    assert (status, body["error"]["param"]) == (400, "maxSeats")


def test_a_seat_is_shown_whole(api: Api) -> None:
    team = Team()
    team.enable("studio")
    path = f"/organizations/{team.id}/products/studio/seats/{team['olivia'].id}"
    status, seat = api("PUT", path)
    assert status == 200
    assert seat.pop("assignedAt").endswith("Z")
    assert seat == {"product": "studio", "membershipId": team["olivia"].id, "assigned": True}
    assert api("DELETE", path)[1] == seat | {"assigned": False, "assignedAt": None}


def test_a_member_sees_only_its_own_seats(client: Client) -> None:
    team = Team()
    team.enable("studio")
    for name in ("bob", "carla"):
        team.join(name)
        seats.assign(org_id=team.id, product="studio", membership_id=team[name].id, actor_did=team.owner.did)
    own = Api(client, caller("bob"))("GET", f"/organizations/{team.id}/seats")[1]["data"]
    assert [seat["membershipId"] for seat in own] == [team["bob"].id]
    every = Api(client, caller())("GET", f"/organizations/{team.id}/seats?product=studio")[1]["data"]
    assert len(every) == 2


def test_an_invitation_is_shown_once_and_accepted_by_the_bearer_of_its_token(api: Api, client: Client) -> None:
    team = Team()
    body = {"role": "admin", "email": "bob@example.com"}
    status, invitation = api("POST", f"/organizations/{team.id}/invitations", body)
    assert status == 201
    token = invitation.pop("token")
    assert invitation.pop("url") == f"https://gateway.example/organizations/invitation#token={token}"
    listed = api("GET", f"/organizations/{team.id}/invitations")[1]["data"]
    assert listed == [invitation]
    status, joined = Api(client, caller("bob"))("POST", "/org-invitations/accept", {"token": token})
    assert (status, joined["orgId"], joined["role"]) == (200, team.id, "admin")
    status, refused = Api(client, caller("carla"))("POST", "/org-invitations/accept", {"token": token})
    assert (status, refused["error"]["code"]) == (404, "invitation_unavailable")


def guess(api: Api, token: str = "no such invitation") -> tuple[int, dict[str, Any]]:
    status, body = api("POST", "/org-invitations/accept", {"token": token})
    return status, {name: value for name, value in body["error"].items() if name != "request_id"}


@pytest.mark.parametrize("token", ["\x00", "a\x00b", "\x1f", "\u2028", "-" * 43])
def test_every_token_that_no_invitation_has_gets_the_same_answer(api: Api, token: str) -> None:
    unknown = guess(api)
    assert (unknown[0], unknown[1]["code"], unknown[1]["param"]) == (404, "invitation_unavailable", None)
    assert guess(api, token) == unknown


def test_guesses_at_invitations_are_limited_for_each_account(client: Client, settings: Settings) -> None:
    settings.INVITATION_GUESSES_PER_ACCOUNT_10_MINUTES = 3
    team, bob = Team(), Api(client, caller("bob"))
    _, token = invitations.invite(org_id=team.id, role=Role.MEMBER, email=None, actor_did=team.owner.did)
    assert [guess(bob)[1]["code"] for _ in range(5)] == ["invitation_unavailable"] * 3 + ["rate_limited"] * 2
    assert guess(bob, token)[0] == 429  # or the guesses would go on
    assert Api(client, caller("carla"))("POST", "/org-invitations/accept", {"token": token})[0] == 200


def test_guesses_at_invitations_are_limited_for_each_address(client: Client, settings: Settings) -> None:
    settings.INVITATION_GUESSES_PER_ADDRESS_10_MINUTES = 3
    for number in range(3):
        assert guess(Api(client, caller(f"guesser-{number}")))[0] == 404
    status, refused = guess(Api(client, caller("one-more")))
    assert (status, refused["code"]) == (429, "rate_limited")


class TestContextTokens:
    """POST /v1/auth/context."""

    def test_keeps_key_scopes_and_expiry(self, client: Client) -> None:
        team = Team()
        source = caller()
        status, token = Api(client, source)("POST", "/auth/context", {"orgId": team.id})
        assert status == 200
        assert (token["orgId"], token["product"], token["token_type"]) == (team.id, None, "DPoP")
        assert token["scope"].split() == sorted(ALL)
        assert 0 < token["expires_in"] <= 300
        assert jwt.parse(token["access_token"]).claims["exp"] == jwt.parse(source.token).claims["exp"]
        context = Caller(source.account, ALL, source.signer, token["access_token"])
        account_view = client.get("/v1/account", headers=context.headers("GET", "/v1/account")).json()
        assert account_view["organization"]["orgId"] == team.id

    def test_a_source_with_a_product_needs_a_live_seat(self, client: Client) -> None:
        team = Team()
        team.enable("studio")
        api = Api(client, caller(product="studio"))
        status, body = api("POST", "/auth/context", {"orgId": team.id})
        assert (status, body["error"]["code"]) == (403, "no_seat")
        self._seat(team)
        assert api("POST", "/auth/context", {"orgId": team.id})[1]["product"] == "studio"

    def test_another_product_is_forbidden(self, client: Client) -> None:
        team = Team()
        api = Api(client, caller(product="studio"))
        status, body = api("POST", "/auth/context", {"orgId": team.id, "product": "courier"})
        assert (status, body["error"]["code"]) == (403, "forbidden")

    def test_a_disabled_product_denies_with_403(self, client: Client) -> None:
        team = Team()
        status, body = Api(client, caller())("POST", "/auth/context", {"orgId": team.id, "product": "studio"})
        assert (status, body["error"]["code"]) == (403, "product_disabled")

    def test_an_organization_s_token_founds_no_organization(self, client: Client) -> None:
        team = Team()
        api = Api(client, caller(org_id=team.id, membership_id=team["olivia"].id))
        status, body = api("POST", "/organizations", {"name": "Other"})
        assert (status, body["error"]["code"]) == (403, "forbidden")
        assert Organization.objects.get().pk == team.id

    def test_a_context_token_mints_for_no_other_organization(self, client: Client) -> None:
        team, other = Team(), Team("olivia", "Other")
        api = Api(client, caller(org_id=team.id))
        status, body = api("POST", "/auth/context", {"orgId": other.id})
        assert (status, body["error"]["code"]) == (403, "forbidden")

    @pytest.mark.parametrize("ending", ["removal", "seat", "product"])
    def test_ends_with_the_access_that_it_stands_for(self, client: Client, ending: str) -> None:
        team = Team()
        team.join("otto", Role.OWNER)
        team.enable("studio")
        self._seat(team)
        context = caller(org_id=team.id, membership_id=team["olivia"].id, product="studio")
        api = Api(client, context)
        assert api("GET", "/account")[0] == 200
        self._end(team, ending)
        status, body = api("GET", "/account")
        reasons = {"removal": "not_member", "seat": "no_seat", "product": "product_disabled"}
        assert (status, body["error"]["code"]) == (403, reasons[ending])

    def _seat(self, team: Team) -> None:
        seats.assign(org_id=team.id, product="studio", membership_id=team["olivia"].id, actor_did=team.owner.did)

    def _end(self, team: Team, ending: str) -> None:
        otto = team["otto"].account.did
        match ending:
            case "removal":
                members.remove(org_id=team.id, membership_id=team["olivia"].id, actor_did=otto)
            case "seat":
                seats.revoke(org_id=team.id, product="studio", membership_id=team["olivia"].id, actor_did=otto)
            case "product":
                products.disable(org_id=team.id, product="studio", actor_did=otto)


def test_ten_thousand_members_take_few_queries(
    client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    team = Team()
    team.crowd(10_000)
    api = Api(client, caller())
    with django_assert_max_num_queries(4):
        status, body = api("GET", f"/organizations/{team.id}/members")
    assert (status, len(body["data"])) == (200, 10_001)
