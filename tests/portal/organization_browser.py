"""An organization with a browser for each role, and helpers that read pages."""

import copy
import re
from typing import Any

from django.test import Client

from accounts.models import Account
from organizations.operations import seats
from organizations.rules.roles import Role
from tests.factories.organizations import Team, account, product

# Queries of every portal page: session, account, appearance and list of browsers.
FRAME_QUERIES_MAX = 9


def signed_in(who: Account) -> Client:
    client = Client()
    client.force_login(who, backend="django.contrib.auth.backends.ModelBackend")
    return client


def _like(browser: Client) -> Client:
    other = Client()
    other.cookies = copy.deepcopy(browser.cookies)
    return other


class OrganizationPages:
    """An organization with one person for each role. `organization_pages["admin"]` is the admin's browser."""

    def __init__(self) -> None:
        self.team = Team("owner")
        for role in (Role.ADMIN, Role.BILLING, Role.MEMBER):
            self.team.join(role.value, role)
        self.team.enable("studio")
        product("courier", 15_000_000)
        self.clients = {role.value: signed_in(account(role.value)) for role in Role}

    def again(self) -> "OrganizationPages":
        """Return the same organization with browsers that have done nothing yet."""
        fresh = copy.copy(self)
        fresh.team = copy.deepcopy(self.team)
        fresh.clients = {role: _like(client) for role, client in self.clients.items()}
        return fresh

    def __getitem__(self, role: str) -> Client:
        return self.clients[role]

    def path(self, *parts: str) -> str:
        return "/".join(["/organizations", self.team.id, *parts])

    def get(self, role: str, *parts: str) -> str:
        answer = self[role].get(self.path(*parts))
        assert answer.status_code == 200, answer.status_code
        return answer.content.decode()

    def post(self, who: str, *parts: str, **form: Any) -> Any:
        return self[who].post(self.path(*parts), form, follow=True)

    def seat(self, name: str = "member") -> None:
        seats.assign(
            org_id=self.team.id, product="studio", membership_id=self.team[name].id, actor_did=self.team.owner.did
        )

    def member(self, name: str) -> str:
        return self.team.people[name].pk


def message(answer: Any) -> str:
    """Return the only message of a page."""
    [parts] = re.findall(r'<p class="message ([a-z]+)" role="status">(.*?)</p>', answer.content.decode())
    return " ".join(parts)
