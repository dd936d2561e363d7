"""Two server processes with real sockets: each call is counted once in a budget that changes meanwhile."""

from collections import Counter
from pathlib import Path
from typing import Any

import httpx

from billing.models import Budget, Call
from billing.queries import audit
from gateway.core.contract.capabilities import Capability
from tests.factories.accounts import Caller as Manager
from tests.inference.calls.test_organizations import World
from tests.support import plain_http
from tests.support.concurrency import at_once
from tests.support.processes import by_turns, send, two_processes
from tests.support.stage import Stage, chat

CALLS = 16


def test_a_budget_that_changes_while_calls_are_made_counts_each_once(stage: Stage, tmp_path: Path) -> None:
    alias = stage.model("small-1?delay_ms=300", max_output_tokens=16)
    world = World(stage)
    caller, manager = world.context(), Manager(world.team.owner, tuple(Capability))

    def call(origin: str, number: int) -> httpx.Response:
        headers = caller.headers("/v1/chat/completions") | {
            "Idempotency-Key": f"key {number}",
            "x-service-max-cost-microusd": "100000",
        }
        return plain_http.request(
            "POST", f"{origin}/v1/chat/completions", json=chat(alias), headers=headers, timeout=60
        )

    def put(origin: str, limit: int) -> httpx.Response:
        body = {"scope": "org", "limitMicrousd": limit}
        return send(manager, origin, "PUT", f"/v1/organizations/{world.team.id}/budgets", body)

    with two_processes(CATALOGUE_TTL_SECONDS="0", CALL_JOURNAL_DIR=str(tmp_path)) as origins:
        limits = by_turns(origins, put, [10**9, 1, 40, 10**9])
        results: list[Any] = at_once(*by_turns(origins, call, range(CALLS)), *limits, *limits)
        statuses = Counter(each.status_code for each in results[:CALLS])
        assert {each.status_code for each in results[CALLS:]} == {200}
        assert put(origins[0], 1).status_code == 200
        assert call(origins[1], CALLS).json()["error"]["code"] == "budget_exceeded"
    calls = Call.objects.filter(org_id=world.team.id)
    assert calls.filter(state="settled").count() == calls.count() == statuses[200]
    budget = Budget.objects.get(wallet__owner_key=world.team.id)
    assert (budget.spent_microusd, budget.held_microusd) == (sum(each.charge_microusd or 0 for each in calls), 0)
    assert audit.findings() == []
