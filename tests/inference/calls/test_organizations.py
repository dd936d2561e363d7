"""Calls under an organization's token: its wallet, its rules, and access that is checked until the end of a stream."""

import time
import uuid
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import httpx
import orjson
import pytest
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Account, DeviceSession
from billing.models import Call, Wallet
from billing.operations import budgets
from billing.rules.budgets import Subject
from organizations.models import Membership
from organizations.operations import members, products, seats
from organizations.rules.roles import Role
from tests.factories.organizations import Team
from tests.factories.payments import top_up
from tests.factories.proofs import mint_token
from tests.support.stage import CHAT, Caller, Stage, chat

PATH = "/v1/auth/context"
SCOPES = ("infer:*", "wallet:read", "usage:read")


class World:
    """An organization with funds, whose member Bob has a seat for a product."""

    def __init__(self, stage: Stage, balance: int = 1_000_000) -> None:
        self.stage = stage
        self.product = f"product-{uuid.uuid4().hex[:8]}"
        self.team = Team(f"olivia{uuid.uuid4().hex}")
        if balance:
            top_up(("organization", self.team.id), balance)
        self.own = stage.caller(scopes=SCOPES, balance=0)
        self.team.enable(self.product)
        self.bob = self.join(self.own)
        self.assign(self.bob)

    def join(self, caller: Caller, role: Role = Role.MEMBER) -> Membership:
        """Make a caller's account a member."""
        return self.team.join(caller.did.rpartition(":")[2], role)

    def assign(self, membership: Membership) -> None:
        """Assign a member the product's seat."""
        seats.assign(
            org_id=self.team.id, product=self.product, membership_id=membership.id, actor_did=self.team.owner.did
        )

    def context(self, caller: Caller | None = None, product: str | None = "") -> Caller:
        """Exchange a person's token for the organization's, as clients do."""
        caller = caller or self.own
        body = {"orgId": self.team.id, "product": self.product if product == "" else product}
        answer = caller.client.post(
            caller.origin + PATH,
            content=orjson.dumps(body),
            headers={**caller.headers(PATH), "Content-Type": "application/json"},
        )
        assert answer.status_code == 200, answer.text
        return replace(caller, token=answer.json()["access_token"])

    def owner(self) -> Caller:
        """Return the owner as a caller, with a seat."""
        did = self.team.owner.did
        self.assign(self.team[did.rpartition(":")[2]])
        return replace(self.own, did=did, token=mint_token(did, SCOPES, self.own.signer))

    def end(self, how: str) -> None:
        """End Bob's access."""
        actor = self.team.owner.did
        match how:
            case "not_member":
                members.remove(org_id=self.team.id, membership_id=self.bob.id, actor_did=actor)
            case "no_seat":
                seats.revoke(org_id=self.team.id, product=self.product, membership_id=self.bob.id, actor_did=actor)
            case "product_disabled":
                products.disable(org_id=self.team.id, product=self.product, actor_did=actor)

    @property
    def wallet(self) -> tuple[int, int]:
        """Return balance and held of the organization's wallet."""
        wallet = Wallet.objects.get(owner_kind="organization", owner_key=self.team.id)
        return wallet.balance_microusd, wallet.held_microusd

    @property
    def calls(self) -> list[Call]:
        """Return the organization's calls, oldest first."""
        return list(Call.objects.filter(org_id=self.team.id).order_by("created_at", "id"))


@pytest.fixture
def world(stage: Stage) -> World:
    return World(stage)


def error_of(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def test_a_call_is_charged_to_the_organization_and_records_its_caller(stage: Stage, world: World) -> None:
    alias, caller = stage.model(max_output_tokens=50), world.context()
    answer = caller.post(chat(alias))
    assert answer.status_code == 200, answer.text
    charge = int(answer.headers["x-service-charge-microusd"])
    usage = answer.json()["usage"]
    cost = -(-(usage["prompt_tokens"] * 150_000 + usage["completion_tokens"] * 600_000) // 10**6)
    assert charge == cost > 0
    assert world.wallet == (1_000_000 - charge, 0)
    [call] = world.calls
    assert (call.org_id, call.membership_id, call.product) == (world.team.id, world.bob.id, world.product)
    assert not Wallet.objects.filter(owner_kind="account", owner_key=caller.did, held_microusd__gt=0).exists()
    [row] = caller.get("/v1/usage").json()["data"]
    assert (row["orgId"], row["membershipId"], row["product"]) == (world.team.id, world.bob.id, world.product)
    assert (row["status"], row["chargedMicrousd"]) == ("settled", charge)


def test_without_a_product_membership_is_enough(stage: Stage, world: World) -> None:
    alias = stage.model(max_output_tokens=50)
    world.end("no_seat")
    assert world.context(product=None).post(chat(alias)).status_code == 200
    [call] = world.calls
    assert (call.membership_id, call.product) == (world.bob.id, None)


@pytest.mark.parametrize("reason", ["not_member", "no_seat", "product_disabled"])
def test_the_next_request_after_access_ended_is_refused(stage: Stage, world: World, reason: str) -> None:
    alias, caller = stage.model(max_output_tokens=50), world.context()
    assert caller.post(chat(alias)).status_code == 200
    before = world.wallet
    world.end(reason)
    proof = caller.headers(CHAT)
    assert error_of(caller.post(chat(alias), headers=proof)) == (403, reason)
    assert error_of(caller.post(chat(alias), headers=proof)) == (401, "invalid_dpop_proof")
    assert (world.wallet, len(world.calls), len(stage.upstream.ledger)) == (before, 1, 1)


def test_access_is_checked_between_availability_and_maximum_cost(stage: Stage, world: World) -> None:
    alias, caller = stage.model(max_output_tokens=50), world.context()
    body = chat(alias)
    first = caller.post(body, key="one")
    world.end("not_member")
    assert error_of(caller.post(chat(alias, temperature=1), key="one")) == (422, "idempotency_key_reused")
    assert caller.post(body, key="one").content == first.content
    assert error_of(caller.post({"model": alias, "messages": 1})) == (400, "invalid_request")
    assert error_of(caller.post(chat(stage.model(price=None)))) == (503, "model_unavailable")
    assert error_of(caller.post(body, max_cost=1)) == (403, "not_member")
    assert error_of(world.context(world.owner()).post(body, max_cost=1)) == (402, "max_cost_exceeded")


def test_a_returning_member_calls_under_the_new_membership(stage: Stage, world: World) -> None:
    alias, caller = stage.model(max_output_tokens=50), world.context(product=None)
    world.end("not_member")
    again = world.join(world.own)
    assert caller.post(chat(alias)).status_code == 200
    assert [call.membership_id for call in world.calls] == [again.id]


def test_idempotency_keys_are_unique_in_an_organization_and_separate_from_the_accounts(
    stage: Stage, world: World
) -> None:
    alias, caller = stage.model(max_output_tokens=50), world.context(product=None)
    other = stage.caller(scopes=SCOPES)
    world.join(other)
    body = chat(alias)
    first = caller.post(body, key="one")
    second = world.context(other, product=None).post(body, key="one")
    assert (second.headers["idempotent-replayed"], second.content) == ("true", first.content)
    assert "idempotent-replayed" not in other.post(body, key="one").headers
    assert len(world.calls) == 1


@pytest.mark.parametrize("scope", ["org", "product", "member", "member_product"])
def test_a_budget_of_each_scope_refuses(stage: Stage, world: World, scope: str) -> None:
    subject = {
        "product": world.product if "product" in scope else None,
        "membership_id": world.bob.id if "member" in scope else None,
    }
    alias, caller = stage.model(max_output_tokens=50), world.context()
    budget = budgets.put(Subject(("organization", world.team.id), **subject), limit_microusd=1, now=timezone.now())
    answer = caller.post(chat(alias))
    assert error_of(answer) == (402, "budget_exceeded")
    assert answer.json()["error"]["details"] == {"budgetId": budget.id}
    assert answer.json()["error"]["message"] == f"This request would exceed the budget {budget.id}."
    assert (world.wallet, world.calls) == ((1_000_000, 0), [])
    assert len(stage.upstream.ledger) == 0


def test_another_members_budget_refuses_nothing(stage: Stage, world: World) -> None:
    alias, caller = stage.model(max_output_tokens=50), world.context()
    other, owner = world.join(stage.caller()), ("organization", world.team.id)
    budgets.put(Subject(owner, membership_id=other.id), limit_microusd=1, now=timezone.now())
    budgets.put(Subject(owner, "another"), limit_microusd=1, now=timezone.now())
    assert caller.post(chat(alias)).status_code == 200


def test_an_organizations_wallet_that_pays_for_ten_admits_exactly_ten_of_fifty(stage: Stage) -> None:
    # Each call costs as much as it holds, so that a call that has ended frees no funds for another.
    alias = stage.model("small-1?delay_ms=100", max_output_tokens=16, price={"request": "150"})
    world = World(stage, balance=1_500)
    caller = world.context()
    with ThreadPoolExecutor(50) as threads:
        answers = list(threads.map(lambda _: caller.post(chat(alias)), range(50)))
    codes = Counter(a.status_code if a.status_code == 200 else a.json()["error"]["code"] for a in answers)
    assert codes == {200: 10, "insufficient_funds": 40}
    assert [call.charge_microusd for call in world.calls] == [150] * 10
    assert world.wallet == (0, 0)


class TestOpenStreams:
    """A stream ends soon after its caller loses access, and is charged by what was delivered."""

    SLOW = "small-1?tokens=2000&token_delay_ms=20"

    @pytest.fixture(autouse=True)
    def often(self, settings: Settings) -> None:
        settings.STREAM_CHECKPOINT_SECONDS = 0.2

    def cut(self, stage: Stage, world: World, caller: Caller, end: Callable[[], object], code: str) -> Call:
        """Open a stream, end its caller's access, and check how the stream ends."""
        with caller.stream(chat(stage.model(self.SLOW, max_output_tokens=2500))) as answer:
            lines = answer.iter_lines()
            next(lines)
            end()
            began = time.monotonic()
            rest = [line for line in lines if line]
        assert time.monotonic() - began < 30
        assert orjson.loads(rest[-2].removeprefix("data: "))["error"]["code"] == code
        [call] = Call.objects.filter(actor_did=caller.did)
        assert (call.state, call.usage_record.basis) == ("settled", "delivered")
        assert orjson.loads(rest[-1].removeprefix(": service "))["charge_microusd"] == call.charge_microusd
        read, written = call.usage_record.input_tokens or 0, call.usage_record.output_tokens or 0
        assert 0 < written < 1500
        assert call.charge_microusd == -(-(read * 150_000 + written * 600_000) // 10**6)
        return call

    @pytest.mark.parametrize("reason", ["not_member", "no_seat", "product_disabled"])
    def test_when_live_access_ends(self, stage: Stage, world: World, reason: str) -> None:
        call = self.cut(stage, world, world.context(), lambda: world.end(reason), reason)
        assert world.wallet == (1_000_000 - (call.charge_microusd or 0), 0)

    def test_when_the_account_is_suspended(self, stage: Stage, world: World) -> None:
        caller = stage.caller()
        suspended = Account.objects.filter(did=caller.did)
        call = self.cut(stage, world, caller, lambda: suspended.update(suspended_at=timezone.now()), "invalid_token")
        assert caller.wallet == {"balance": 1_000_000 - (call.charge_microusd or 0), "held": 0, "debt": 0}

    def test_when_the_device_session_is_revoked(self, stage: Stage, world: World) -> None:
        caller = stage.caller()
        session = DeviceSession.objects.create(
            account=Account.objects.get(did=caller.did),
            client_id="https://app.example",
            name="",
            persistent=False,
            jkt=caller.signer.jkt,
            scopes=[],
            consents=[],
            created_at=timezone.now(),
            expires_at=timezone.now() + timedelta(seconds=300),
            last_used_at=timezone.now(),
        )
        caller.token = mint_token(caller.did, SCOPES, caller.signer, session_id=session.pk)
        self.cut(stage, world, caller, lambda: DeviceSession.objects.update(revoked_at=timezone.now()), "invalid_token")

    def test_also_while_the_upstream_is_silent(self, stage: Stage, world: World) -> None:
        alias = stage.model("hang-first-event", max_output_tokens=500, upstream=stage.upstream_row(timeout_seconds=60))
        with world.context().stream(chat(alias)) as answer:
            lines = answer.iter_lines()
            next(lines)
            world.end("not_member")
            began = time.monotonic()
            rest = [line for line in lines if line]
        assert time.monotonic() - began < 30
        assert orjson.loads(rest[-2].removeprefix("data: "))["error"]["code"] == "not_member"
        [call] = world.calls
        assert call.state == "settled"
        assert world.wallet[1] == 0
        again = world.stage.caller().post(chat(stage.model(max_output_tokens=50)))
        assert again.status_code == 200


class TestReports:
    """GET /v1/wallet and /v1/usage under an organization's token."""

    def caller(self, stage: Stage, world: World, role: Role) -> Caller:
        caller = stage.caller(scopes=SCOPES)
        world.join(caller, role)
        return world.context(caller, product=None)

    @pytest.mark.parametrize("role", list(Role))
    def test_the_wallet_is_for_owner_and_billing(self, stage: Stage, world: World, role: Role) -> None:
        answer = self.caller(stage, world, role).get("/v1/wallet")
        if role in (Role.OWNER, Role.BILLING):
            assert answer.json()["balanceMicrousd"] == 1_000_000
        else:
            assert error_of(answer) == (403, "forbidden")

    @pytest.mark.parametrize("role", list(Role))
    def test_usage_is_all_for_owner_and_billing_and_ones_own_for_others(
        self, stage: Stage, world: World, role: Role
    ) -> None:
        alias = stage.model(max_output_tokens=50)
        assert world.context().post(chat(alias)).status_code == 200
        caller = self.caller(stage, world, role)
        own = caller.post(chat(alias)).headers["x-service-usage-id"]
        seen = [row["usageId"] for row in caller.get("/v1/usage").json()["data"]]
        expected = [call.id for call in reversed(world.calls)] if role in (Role.OWNER, Role.BILLING) else [own]
        assert seen == expected

    def test_what_a_person_does_for_an_organization_is_not_in_its_own_usage(self, stage: Stage, world: World) -> None:
        assert world.context().post(chat(stage.model(max_output_tokens=50))).status_code == 200
        assert world.own.get("/v1/usage").json() == {"data": []}
