"""The callers: accounts with their own wallets, and owners who call for their organization."""

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import orjson

from bench.identity import PRODUCT, TOKEN_AGE_SECONDS, Customer, Product
from tests.chaos.caller import Caller, proof_headers
from tests.chaos.journal import TOKEN, Attempt

CONTEXT = "/v1/auth/context"
EXCHANGE = "/v1/auth/token/exchange"
BUDGETS = {"org": 40_000, "product": 30_000, "member": 20_000, "member_product": 10_000}
"""Limits in micro-USD; the lowest is used up by a few hundred calls."""
PERIODS = {"product": "week", "member": "day"}
"""Of the budgets that count no month."""


@dataclass(slots=True)
class Person:
    """A customer and the payer of its calls: itself, or an organization that it owns."""

    customer: Customer
    org_id: str = ""
    _until: float = field(default=0.0)

    @property
    def payer(self) -> str:
        """Return the wallet's owner as named in the ledger."""
        return self.org_id or self.customer.did

    async def token(self, caller: Caller, product: Product, process: str) -> str:
        """Return a valid token, exchanging a new one if necessary; empty if that failed."""
        if time.monotonic() < self._until:
            return self.customer.token
        attempt = Attempt(TOKEN, process, payer=self.customer.did)
        token = await exchange(caller, product, self.customer, attempt)
        if token and self.org_id:
            token = await _for_organization(caller, self, token, process)
        if token:
            self.customer.token = token
            self._until = time.monotonic() + TOKEN_AGE_SECONDS * random.uniform(0.7, 1.0)
        return token


async def exchange(caller: Caller, product: Product, customer: Customer, attempt: Attempt) -> str:
    """Exchange an assertion for a customer's token; empty if the gateway refuses."""
    body = {"assertion": product.assertion(customer), "dpop_jwk": customer.key.jwk}
    answer = await caller.ask(attempt, "POST", EXCHANGE, body=orjson.dumps(body))
    return str(orjson.loads(answer)["access_token"]) if attempt.is_served else ""


async def _for_organization(caller: Caller, person: Person, token: str, process: str) -> str:
    attempt = Attempt(TOKEN, process, payer=person.org_id)
    headers = proof_headers(person.customer, token, "POST", CONTEXT)
    answer = await caller.ask(attempt, "POST", CONTEXT, body=orjson.dumps({"orgId": person.org_id}), headers=headers)
    return str(orjson.loads(answer)["access_token"]) if attempt.is_served else ""


async def found(caller: Caller, product: Product, owner: Customer, process: str) -> Person:
    """Create an organization with a product, a seat for its owner, and budgets of all four scopes and three periods."""
    person = Person(owner)
    token = await person.token(caller, product, process)
    founded = await _manage(caller, owner, token, process, "POST", "/v1/organizations", {"name": owner.name})
    root = f"/v1/organizations/{founded['orgId']}"
    await _manage(caller, owner, token, process, "PUT", f"{root}/products/{PRODUCT}", {})
    seat = f"{root}/products/{PRODUCT}/seats/{founded['membershipId']}"
    await _manage(caller, owner, token, process, "PUT", seat, {})
    for scope, limit in BUDGETS.items():
        budget = {"scope": scope, "limitMicrousd": limit, "period": PERIODS.get(scope, "month")}
        budget |= {"product": PRODUCT} if "product" in scope else {}
        budget |= {"membershipId": founded["membershipId"]} if "member" in scope else {}
        await _manage(caller, owner, token, process, "PUT", f"{root}/budgets", budget)
    return Person(owner, founded["orgId"])


async def _manage(
    caller: Caller, owner: Customer, token: str, process: str, method: str, path: str, body: dict[str, object]
) -> dict[str, str]:
    attempt = Attempt("founding", process, payer=owner.did)
    headers = proof_headers(owner, token, method, path)
    answer = await caller.ask(attempt, method, path, body=orjson.dumps(body) if body else None, headers=headers)
    if attempt.status not in (200, 201):
        raise RuntimeError(f"{method} {path} answered {attempt.status} {answer!r} {attempt.failure}")
    return dict(orjson.loads(answer))


@dataclass(slots=True)
class Crowd:
    """All payers, grouped by how many calls share a wallet. Each group makes a third of the calls."""

    hot: Sequence[Person]
    few: Sequence[Person]
    many: Sequence[Person]

    def choose(self, dice: random.Random) -> Person:
        """Choose the next caller."""
        return dice.choice(dice.choice((self.hot, self.few, self.many)))
