"""Ids of another organization below one's own, and organizations of others: they look as if there were none."""

import itertools
import re
from typing import Any

import pytest
from django.test import Client

from gateway.api.json import dumps
from gateway.contract.capabilities import Capability
from gateway.contract.ids import new_id
from organizations.models import AuditEntry, Organization
from organizations.operations import budgets, invitations
from organizations.rules.roles import Role
from tests.factories.accounts import Caller
from tests.factories.organizations import Team, account
from tests.factories.payments import top_up
from tests.factories.proofs import Signer, mint_token
from tests.gateway.every_url import parameters_of, templates

pytestmark = pytest.mark.django_db

ROOTS = ("/v1/organizations/{org_id}", "/api/organizations/{org_id}", "/organizations/{org_id}")
PATHS = sorted(path for path in templates() if path.startswith(ROOTS))
METHODS = ("GET", "POST", "PUT", "DELETE")
IDS = {"membership_id": "mem", "invitation_id": "inv", "budget_id": "bud", "transaction_id": "txn"}
BODIES = (
    {"role": "member"},
    {"maxSeats": 1},
    {"scope": "member", "limitMicrousd": 1, "membershipId": "{membership_id}"},
)


class Neighbours:
    """Two organizations with people, products, invitations, budgets and payments; Mallory owns the second alone."""

    def __init__(self) -> None:
        self.team, self.other = Team("olivia"), Team("mallory", "Other")
        for team in (self.team, self.other):
            team.enable("studio")
        self.bob = self.team.join("bob", Role.MEMBER)
        self.ids = self._ids()
        self.client = Client()
        self.client.force_login(account("mallory"), backend="django.contrib.auth.backends.ModelBackend")
        signer, scopes = Signer(), tuple(Capability)
        self.caller = Caller(
            account("mallory"), scopes, signer, mint_token("did:web:studio.example:mallory", scopes, signer)
        )

    def _ids(self) -> dict[str, str]:
        """Return ids of the first organization, by the names that paths have for them."""
        invitation, _ = invitations.invite(
            org_id=self.team.id, role=Role.MEMBER, email=None, actor_did=self.team.owner.did
        )
        budget = budgets.put(
            org_id=self.team.id,
            limit_microusd=9,
            product=None,
            membership_id=self.bob.id,
            actor_did=self.team.owner.did,
        )
        payment = top_up(("organization", self.team.id), 5_000_000)
        return {
            "membership_id": self.bob.id,
            "invitation_id": invitation.id,
            "budget_id": budget.id,
            "transaction_id": payment.pk,
        }

    def ask(self, method: str, path: str, body: Any) -> tuple[int, str]:
        """Return status and body of an answer, and of the page that it leads to, without what differs between any two."""
        if path.startswith("/organizations/"):
            post = self.client.post(path, body, follow=True) if method == "POST" else None
            answer = post or self.client.generic(method, path)
        else:
            headers = self.caller.headers(method, path) if path.startswith("/v1/") else {}
            answer = self.client.generic(method, path, dumps(body), content_type="application/json", headers=headers)
        chain = getattr(answer, "redirect_chain", None)
        text = re.sub(r'(req_\w+|name="csrfmiddlewaretoken" value="\w+")', "", answer.content.decode())
        return (chain[0][1] if chain else answer.status_code), text


def unknown() -> dict[str, str]:
    return {name: new_id(prefix) for name, prefix in IDS.items()}


def state(team: Team) -> tuple[int, int]:
    return (
        Organization.objects.values_list("version", flat=True).get(pk=team.id),
        AuditEntry.objects.filter(organization=team.id).count(),
    )


def filled(value: Any, ids: dict[str, str]) -> Any:
    return {key: each.format(**ids) if isinstance(each, str) else each for key, each in value.items()}


def compare(house: Neighbours, path: str, foreign: dict[str, str], nobody: dict[str, str]) -> set[int]:
    """Check that two sets of ids get the same answers to every method and body; return the statuses."""
    statuses = set()
    for method, body in itertools.product(METHODS, BODIES):
        answers = []
        for ids in (foreign, nobody):
            status, text = house.ask(method, path.format(product="studio", **ids), filled(body, ids))
            for name, each in ids.items():
                text = text.replace(each, name)
            answers.append((status, text))
        assert answers[0] == answers[1], (method, body)
        statuses.add(answers[0][0])
    return statuses


WITH_IDS = [path for path in PATHS if set(parameters_of(path)) & set(IDS)]
BUDGETS = [f"{root}/budgets" for root in ROOTS[:2]]


@pytest.mark.parametrize("path", [*WITH_IDS, *BUDGETS])
def test_an_id_of_another_organization_is_as_unknown_as_one_that_never_was(path: str) -> None:
    house = Neighbours()
    own, before = {"org_id": house.other.id}, state(house.team)
    statuses = compare(house, path, own | house.ids, own | unknown())
    assert not statuses & {200, 201}
    assert state(house.team) == before


@pytest.mark.parametrize("path", PATHS)
def test_an_organization_of_others_is_as_unknown_as_one_that_never_was(path: str) -> None:
    house = Neighbours()
    before = state(house.team)
    compare(house, path, {"org_id": house.team.id} | house.ids, {"org_id": new_id("org")} | unknown())
    assert state(house.team) == before
