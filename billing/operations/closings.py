"""How a metered call ends: charged, released, or left to reconciliation. Each happens at most once.

A closing is one element of the ledger's batches (`billing_close_calls`, which documents it). Its arguments name the call
and the amounts, so that whoever finds them written down can close the call too.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from billing.operations.ledger import AMOUNT_MAX_MICROUSD, CloseOutcome, Release, Replay, Settlement
from billing.operations.statement import Statement
from billing.rules.owners import Owner
from gateway.database import BatchFunction, Element

CLOSE = BatchFunction(0, "billing_close_calls")

_AGAIN = "SELECT answer FROM billing_close_calls(%(closings)s::json, NULL, true)"


def settle(
    *,
    owner: Owner,
    usage_id: str,
    cost_microusd: int,
    basis: str,
    quantities: Mapping[str, int],
    replay: Replay | None = None,
    deployment: str | None = None,
) -> Element[Settlement]:
    """Build the closing that charges a call, at most its hold."""
    arguments = {
        "usage_id": usage_id,
        "cost": min(cost_microusd, AMOUNT_MAX_MICROUSD),
        "basis": basis,
        "quantities": quantities,
        "deployment": deployment,
    }
    return _element(owner, "settle", arguments, replay, _read_settlement)


def release(*, owner: Owner, usage_id: str, resolution: str) -> Element[Release]:
    """Build the closing that gives a call's hold back and frees its idempotency key."""
    return _element(owner, "release", {"usage_id": usage_id, "resolution": resolution}, None, _read_release)


def review(
    *,
    owner: Owner,
    usage_id: str,
    reason: str,
    evidence: Mapping[str, int] | None = None,
    replay: Replay | None = None,
    deployment: str | None = None,
) -> Element[bool]:
    """Build the closing that leaves a call to reconciliation; it reads False where the call is not dispatched."""
    arguments = {"usage_id": usage_id, "reason": reason, "evidence": evidence, "deployment": deployment}
    return _element(owner, "review", arguments, replay, lambda answer, body: answer["outcome"] == "review")


def again(arguments: bytes) -> Statement[str]:
    """Build the statement for a closing of which only the arguments were kept, not its replay; it reads the outcome."""
    kept = orjson.loads(arguments)
    closing = {name: value for name, value in kept.items() if not name.startswith("replay_")}
    return Statement(_AGAIN, {"closings": orjson.dumps([closing]).decode()}, _read_outcome)


def _element(owner: Owner, action: str, arguments: dict[str, Any], replay: Replay | None, read: Any) -> Element[Any]:
    arguments["action"] = action
    if replay is not None:
        arguments["replay_status"], arguments["replay_headers"] = replay.status, replay.headers
    return Element(CLOSE, owner, orjson.dumps(arguments), read, replay.body if replay else None)


def _read_settlement(answer: dict[str, Any], body: bytes | None) -> Settlement:
    outcome = CloseOutcome(answer["outcome"])
    return Settlement(outcome, answer["charge_microusd"], answer["hold_microusd"], answer["overrun_microusd"])


def _read_release(answer: dict[str, Any], body: bytes | None) -> Release:
    return Release(CloseOutcome(answer["outcome"]), answer["hold_microusd"])


def _read_outcome(row: Any) -> str:
    answer = orjson.loads(row[0]) if isinstance(row[0], str) else row[0]
    return str(answer["outcome"])
