"""Builds the arguments of a metered call's first statement, and reads its result.

`inference_open_calls` documents every member. A new member of the hold is added here, to `billing_hold_locked`, and to the
call's model, whose migration also adds it to the type `inference_call`. It is also added to
`billing/sql/guards.sql`, which prevents later changes to it.
"""

from functools import partial
from typing import Any, NamedTuple

import orjson

from accounts.operations.replays import refusal
from billing.operations.ledger import Hold, HoldOutcome, Replay, read_replay
from gateway.core.contract.errors import (
    ApiError,
    BudgetExceeded,
    IdempotencyInProgress,
    IdempotencyKeyReused,
    InsufficientFunds,
)
from gateway.core.database import BatchFunction, Element
from inference.metering.admission import Arrival, Checked, Identity, Refused
from inference.metering.answers import answer_is_gone
from inference.metering.limits import RequestLimits
from organizations.operations.refusals import refusal as refusal_of_access

OPEN = BatchFunction(1, "inference_open_calls")


class Opened(NamedTuple):
    """The ledger's result: whether the caller is admitted, the outcome of the hold, and the refusals of live access and of a rate
    limit."""

    admission: str
    hold: Hold | None = None
    denied: ApiError | None = None
    limited: ApiError | None = None

    def admitted(self) -> Hold | None:
        """Return the hold of an admitted caller. Raises the catalogue's error for any other."""
        if error := refusal(self.admission):
            raise error
        if self.denied:
            raise self.denied
        if self.limited:
            raise self.limited
        return self.hold

    def replay_unless(self, expected: HoldOutcome, required_microusd: int = 0) -> Replay | None:
        """Return None if the hold has this outcome. Otherwise return the first answer to a repeated request, or raise the
        catalogue's error, for a caller who is not admitted too."""
        hold = self.admitted()
        assert hold is not None
        return None if hold.outcome is expected else _replay_or_raise(hold, required_microusd)


def hold_element(checked: Checked, deadline_seconds: float) -> Element[Opened]:
    """Build the element that places the hold and marks the call as sent."""
    return _checked_element(checked, {"deadline_seconds": deadline_seconds})


def trial_element(checked: Checked) -> Element[Opened]:
    """Build the element that records the proof and tests whether the hold could be placed now (outcome `fresh`)."""
    return _checked_element(checked, {"is_trial": True})


def refusal_element(refused: Refused) -> Element[Opened]:
    """Build the element that records a failed request's proof, and finds the first answer to a repeated request."""
    members = {"stop_before": refused.stop_before}
    return _element(refused.arrival, refused.identity, members, is_admitted=refused.is_admitted)


def proof_element(arrival: Arrival) -> Element[Opened]:
    """Build the element that only records a proof, and checks whether its caller may still call."""
    return _element(arrival, None, {"stop_before": "idempotency"})


def _checked_element(checked: Checked, members: dict[str, Any]) -> Element[Opened]:
    arrival = checked.arrival
    members |= {
        "usage_id": checked.usage_id,
        "product": arrival.principal.product,
        "client_id": arrival.principal.client_id,
        "model": checked.model.name,
        "request_id": arrival.http.request_id,
        "hold": checked.request.hold_microusd,
        "max_cost": checked.identity.terms.max_cost_microusd,
        "price_version": checked.price.id,
    }
    if checked.identity.body_sha256 is not None:
        members["body_sha256"] = checked.identity.body_sha256.hex()
    return _element(arrival, checked.identity, members, is_admitted=checked.is_admitted)


def _element(
    arrival: Arrival, identity: Identity | None, members: dict[str, Any], *, is_admitted: bool = False
) -> Element[Opened]:
    principal, ticket = arrival.principal, arrival.ticket
    owner_kind, owner_key = owner = principal.owner
    members |= {
        "proof": ticket.digest.hex(),
        "proof_issued_at": ticket.issued_at,
        "proof_expires_at": ticket.expires_at,
        "did": principal.did,
        "session_id": principal.session_id,
        "owner_kind": owner_kind,
        "owner_key": owner_key,
        "route": arrival.route.name,
    }
    if is_admitted:
        members["is_admitted"] = True
    if identity is not None:
        members |= {"key": identity.terms.idempotency_key, "digest": identity.digest.hex()}
    limits = arrival.limits
    if not limits.applied:
        return Element(OPEN, owner, orjson.dumps(members), _read)
    members["limits"] = limits.argument()
    return Element(OPEN, owner, orjson.dumps(members), partial(_read_limited, limits))


def _read_limited(limits: RequestLimits, answer: dict[str, Any], body: bytes | None) -> Opened:
    """Read an answer, and pass on what was used of the request's limits."""
    outcome = answer.get("outcome")
    limits.take(answer.get("levels"), is_counted=outcome == HoldOutcome.HELD)
    if outcome == HoldOutcome.RATE_LIMITED:
        return Opened(answer["admission"], limited=limits.refusal())
    return _read(answer, body)


def _read(answer: dict[str, Any], body: bytes | None) -> Opened:
    outcome = answer.get("outcome")
    if outcome is None:
        return Opened(answer["admission"])
    if outcome == "denied":
        return Opened(answer["admission"], denied=refusal_of_access(answer["reason"], answer["org_id"]))
    usage_id, replay = answer["usage_id"], None
    if body is not None:
        replay = read_replay(usage_id, answer["replay_status"], answer["replay_headers"], body)
    available, budget = answer.get("available_microusd"), answer.get("budget_id")
    placed = Hold(HoldOutcome(outcome), usage_id, available, budget, replay)
    return Opened(answer["admission"], placed)


def _replay_or_raise(found: Hold, required_microusd: int) -> Replay:
    match found.outcome:
        case HoldOutcome.REPLAY:
            assert found.replay
            return found.replay
        case HoldOutcome.IN_PROGRESS:
            raise IdempotencyInProgress(details={"usageId": found.usage_id}, headers={"Retry-After": "1"})
        case HoldOutcome.KEY_REUSED:
            raise IdempotencyKeyReused
        case HoldOutcome.BUDGET_EXCEEDED:
            message = f"This request would exceed the budget {found.budget_id}."
            raise BudgetExceeded(message, details={"budgetId": found.budget_id})
        case HoldOutcome.INSUFFICIENT_FUNDS:
            available = found.available_microusd
            raise InsufficientFunds(
                f"The request needs {required_microusd} micro-USD, but only {available} are available in the wallet.",
                details={"requiredMicrousd": required_microusd, "availableMicrousd": available},
            )
    raise answer_is_gone(usageId=found.usage_id)
