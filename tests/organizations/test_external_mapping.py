"""POST …/billing/external-mapping: confirmation by the provider, permissions, and the seat estimate."""

from datetime import datetime
from functools import partial
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from billing.models import ExternalMapping
from billing.operations import external_mappings as billing
from gateway.core.contract.errors import Forbidden
from organizations.models import AuditEntry, Membership
from organizations.operations import external_mappings
from organizations.operations.changes import changing
from organizations.rules.roles import Role
from tests.factories.organizations import Team
from tests.organizations.test_api import Api, caller
from tests.support.concurrency import at_once, count
from tests.support.stripe import FakeStripe

pytestmark = pytest.mark.django_db
race = pytest.mark.django_db(transaction=True)

SCOPES = ("billing:checkout", "wallet:read")
PRICE = 20_000_000
MAPPING = {"product": "studio", "provider": "stripe", "mode": "test"}


@pytest.fixture
def team(provider: FakeStripe) -> Team:
    team = Team()
    team.enable("studio")
    return team


@pytest.fixture
def api(client: Client) -> Api:
    return Api(client, caller(scopes=SCOPES))


def account_of(provider: FakeStripe, team: Team, **members: Any) -> str:
    """Connect a partner's account whose metadata names the organization."""
    members = {"metadata": {"org_id": team.id}, **members}
    return str(provider.connect(**members)["id"])


def body_of(account_id: str, **members: Any) -> dict[str, Any]:
    return {**MAPPING, "externalOrgId": account_id, **members}


def ask(api: Api, team: Team, account_id: str, **members: Any) -> tuple[int, Any]:
    return api("POST", f"/organizations/{team.id}/billing/external-mapping", body_of(account_id, **members))


def put(team: Team, account_id: str) -> ExternalMapping:
    return external_mappings.put(org_id=team.id, **MAPPING, external_org_id=account_id, actor_did=team.owner.did)


def stored() -> list[tuple[str, str, str, str]]:
    rows = ExternalMapping.objects.order_by("id")
    return list(rows.values_list("org_id", "product", "external_org_id", "mode"))


def entries() -> list[tuple[str, dict[str, Any]]]:
    rows = AuditEntry.objects.filter(action__startswith="external_mapping").order_by("id")
    return [(entry.subject, entry.detail) for entry in rows]


def estimate(api: Api, team: Team) -> Any:
    return api("GET", f"/organizations/{team.id}/billing")[1]["seatEstimate"]


def test_a_confirmed_account_is_answered_whole(provider: FakeStripe, api: Api, team: Team) -> None:
    account_id, before = account_of(provider, team), timezone.now()
    status, answer = ask(api, team, account_id)
    assert status == 200
    verified_at = answer.pop("verifiedAt")
    assert verified_at.endswith("Z")
    assert before <= datetime.fromisoformat(verified_at) <= timezone.now()
    assert answer == {
        "product": "studio",
        "provider": "stripe",
        "externalOrgId": account_id,
        "mode": "test",
        "status": "verified",
    }
    assert stored() == [(team.id, "studio", account_id, "test")]
    assert ExternalMapping.objects.get().verified_by == team.owner.did
    assert entries() == [("studio", {"externalOrgId": account_id, "mode": "test"})]


def test_repeating_verifies_again_and_another_account_replaces(
    provider: FakeStripe,
    api: Api,
    team: Team,
) -> None:
    first, second = account_of(provider, team), account_of(provider, team)
    _, once = ask(api, team, first)
    _, again = ask(api, team, first)
    assert again["verifiedAt"] > once["verifiedAt"]
    assert len(entries()) == 1, "what did not change is not logged"
    assert [request.path for request in provider.requests] == [f"/v1/accounts/{first}"] * 2
    assert ask(api, team, second)[0] == 200
    assert stored() == [(team.id, "studio", second, "test")]
    assert [detail["externalOrgId"] for _, detail in entries()] == [first, second]


def test_a_live_key_verifies_live_accounts(
    provider: FakeStripe,
    settings: Settings,
    api: Api,
    team: Team,
) -> None:
    settings.STRIPE_SECRET_KEY = provider.live_secret_key
    account_id = account_of(provider, team, live=True)
    assert ask(api, team, account_id)[1]["error"]["code"] == "external_mapping_unverified"
    assert ask(api, team, account_id, mode="live")[1]["mode"] == "live"


UNFIT: dict[str, dict[str, Any]] = {
    "names nobody": {"metadata": {}},
    "names another organization": {"metadata": {"org_id": "org_other"}},
    "may not charge": {"charges_enabled": False},
    "is half filled in": {"details_submitted": False},
    "is of the other mode": {"live": True},
}


@pytest.mark.parametrize("members", UNFIT.values(), ids=list(UNFIT))
def test_an_unfit_account_changes_nothing(
    provider: FakeStripe,
    api: Api,
    team: Team,
    members: dict[str, Any],
) -> None:
    former = account_of(provider, team)
    ask(api, team, former)
    before = ExternalMapping.objects.values().get()
    status, answer = ask(api, team, account_of(provider, team, **members))
    assert (status, answer["error"]["code"], answer["error"]["type"]) == (
        409,
        "external_mapping_unverified",
        "conflict_error",
    )
    assert answer["error"]["details"] == {}
    assert ExternalMapping.objects.values().get() == before
    assert len(entries()) == 1


@pytest.mark.parametrize("account_id", ["acct_nobody", "../balance", "acct_1?expand=x", "é"])
def test_an_account_that_is_not_there(provider: FakeStripe, api: Api, team: Team, account_id: str) -> None:
    assert ask(api, team, account_id)[1]["error"]["code"] == "external_mapping_unverified"
    assert stored() == []


def test_the_mode_must_be_the_keys(provider: FakeStripe, api: Api, team: Team) -> None:
    account_id = account_of(provider, team, live=None)
    assert ask(api, team, account_id, mode="live")[1]["error"]["code"] == "external_mapping_unverified"
    assert stored() == []


def test_one_organization_holds_an_account_of_a_product(provider: FakeStripe, api: Api, team: Team) -> None:
    other = Team("oscar", "Other")
    account_id = account_of(provider, team)
    assert ask(api, team, account_id)[0] == 200
    provider.amend(account_id, metadata={"org_id": other.id})
    oscar = Api(api.client, caller("oscar", SCOPES))
    status, answer = ask(oscar, other, account_id)
    assert (status, answer["error"]["code"]) == (409, "external_mapping_unverified")
    assert stored() == [(team.id, "studio", account_id, "test")]


@race
def test_of_two_organizations_at_once_one_gets_it(provider: FakeStripe) -> None:
    teams = [Team("olivia"), Team("oscar", "Other")]
    account_id = account_of(provider, teams[0])
    moves = []
    for team in teams:
        team.enable("studio")
        provider.amend(account_id, metadata={"org_id": team.id})
        verified = billing.verify(org_id=team.id, **MAPPING, external_org_id=account_id)
        moves.append(partial(_store, team, verified))
    assert count(at_once(*moves), "external_mapping_unverified") == 1
    assert len(stored()) == len(entries()) == 1


def _store(team: Team, verified: billing.Verified) -> None:
    with changing(team.id, actor_did=team.owner.did, roles=[Role.OWNER]) as change:
        billing.put(verified, verified_by=team.owner.did, now=change.now)
        change.record("external_mapping.set", "studio")


@race
def test_the_same_owner_twice_at_once(provider: FakeStripe) -> None:
    team = Team()
    team.enable("studio")
    account_id = account_of(provider, team)
    at_once(lambda: put(team, account_id), lambda: put(team, account_id))
    assert stored() == [(team.id, "studio", account_id, "test")]
    assert len(entries()) == 1


@pytest.mark.parametrize("preset", ["error", "drop-answer", "rate-limited", "garbage", "unavailable", "unauthorized"])
def test_a_provider_that_is_away(provider: FakeStripe, api: Api, team: Team, preset: str) -> None:
    account_id = account_of(provider, team)
    provider.script(preset, path="/v1/accounts/*", times=5)
    status, answer = ask(api, team, account_id)
    assert (status, answer["error"]["code"]) == (503, "integration_unavailable")
    assert (stored(), entries()) == ([], [])


@pytest.mark.parametrize("role", [Role.ADMIN, Role.BILLING, Role.MEMBER])
def test_only_owners_may(provider: FakeStripe, client: Client, team: Team, role: Role) -> None:
    team.join("bob", role)
    status, answer = ask(Api(client, caller("bob", SCOPES)), team, account_of(provider, team))
    assert (status, answer["error"]["code"]) == (403, "forbidden")
    assert provider.requests == []
    assert stored() == []


def test_a_stranger_may_not(provider: FakeStripe, client: Client, team: Team) -> None:
    status, answer = ask(Api(client, caller("sam", SCOPES)), team, account_of(provider, team))
    assert (status, answer["error"]["code"]) == (403, "not_member")
    assert provider.requests == []


def test_an_owner_who_stops_being_one_meanwhile(provider: FakeStripe, team: Team) -> None:
    """The role is checked again under the lock, after the provider's response."""
    account_id = account_of(provider, team)
    Membership.objects.filter(pk=team["olivia"].pk).update(role=Role.ADMIN)
    with pytest.raises(Forbidden):
        put(team, account_id)
    assert [request.status for request in provider.requests] == [200]
    assert (stored(), entries()) == ([], [])


@pytest.mark.parametrize(
    ("members", "status", "code", "param"),
    [
        ({"product": "nothing"}, 404, "not_found", "product"),
        ({"provider": "somebody"}, 400, "invalid_request", "provider"),
        ({"mode": "demo"}, 400, "invalid_request", "mode"),
        ({"externalOrgId": ""}, 400, "invalid_request", "externalOrgId"),
        ({"colour": "red"}, 400, "invalid_request", "colour"),
    ],
)
def test_a_body_that_makes_no_sense_is_named(
    provider: FakeStripe,
    api: Api,
    team: Team,
    members: dict[str, Any],
    status: int,
    code: str,
    param: str,
) -> None:
    answered, answer = ask(api, team, account_of(provider, team), **members)
    assert (answered, answer["error"]["code"], answer["error"]["param"]) == (status, code, param)
    assert stored() == []


def test_without_a_provider(settings: Settings, provider: FakeStripe, api: Api, team: Team) -> None:
    settings.STRIPE_SECRET_KEY = ""
    status, answer = ask(api, team, account_of(provider, team))
    assert (status, answer["error"]["code"]) == (503, "integration_unavailable")


def test_externally_billed_seats_cost_nothing_here(provider: FakeStripe, api: Api, team: Team) -> None:
    team.enable("courier")
    before = {one["product"]: one for one in estimate(api, team)["products"]}
    assert ask(api, team, account_of(provider, team))[0] == 200
    after = estimate(api, team)
    studio = {
        "product": "studio",
        "monthlyPriceMicrousd": PRICE,
        "assignedSeats": 0,
        "billableSeats": 1,
        "accruedMicrousd": 0,
        "projectedMicrousd": 0,
        "externallyBilled": True,
    }
    courier = before["courier"]
    assert courier["externallyBilled"] is False
    assert courier["projectedMicrousd"] > 0
    assert after["products"] == [courier, studio]
    assert after["projectedMicrousd"] == courier["projectedMicrousd"]
    assert after["accruedMicrousd"] == courier["accruedMicrousd"]


def test_another_organizations_mapping_changes_nothing_here(
    provider: FakeStripe,
    api: Api,
    team: Team,
) -> None:
    other = Team("oscar", "Other")
    other.enable("studio")
    assert ask(Api(api.client, caller("oscar", SCOPES)), other, account_of(provider, other))[0] == 200
    [studio] = estimate(api, team)["products"]
    assert studio["externallyBilled"] is False
    assert studio["projectedMicrousd"] > 0


def test_in_the_portals_session(provider: FakeStripe, client: Client, team: Team) -> None:
    client.force_login(team.owner, backend="django.contrib.auth.backends.ModelBackend")
    path = f"/api/organizations/{team.id}/billing/external-mapping"
    answer = client.post(path, body_of(account_of(provider, team)), content_type="application/json")
    assert (answer.status_code, answer.json()["status"]) == (200, "verified")
