"""Builds the arguments of a metered call's first statement, and reads its result.

`inference_open_calls` documents every member. A new member of the hold is added here, to `billing_hold_locked`, and to the
reservation's model, whose migration also adds it to the type `inference_call`. It is also added to
`billing/sql/guards.sql`, which prevents later changes to it.
"""

from typing import Any, NamedTuple

import orjson

from billing.operations.ledger import Hold, HoldOutcome, read_replay
from gateway.core.database import BatchFunction, Element
from inference.metering.checks import Arrival, Checked, Identified

OPEN = BatchFunction(1, "inference_open_calls")


class Opened(NamedTuple):
    """The ledger's result: whether the caller is admitted, the outcome of the hold, and why access was denied."""

    admission: str
    hold: Hold | None = None
    denied: str | None = None


def hold_element(checked: Checked, deadline_seconds: float) -> Element[Opened]:
    """Build the element that places the hold and marks the call as sent."""
    return _element(checked, {**_hold(checked), "deadline_seconds": deadline_seconds})


def trial_element(checked: Checked) -> Element[Opened]:
    """Build the element that records the proof and tests whether the hold could be placed now (outcome `fresh`)."""
    return _element(checked, {**_hold(checked), "is_trial": True})


def _hold(checked: Checked) -> dict[str, Any]:
    principal = checked.principal
    return {
        "usage_id": checked.usage_id,
        "product": principal.product,
        "client_id": principal.client_id,
        "model": checked.model.name,
        "request_id": checked.http.request_id,
        "hold": checked.request.hold_microusd,
        "max_cost": checked.terms.max_cost_microusd,
        "price_version": checked.price.id,
    }


def refusal_element(arrival: Arrival, stop_before: str) -> Element[Opened]:
    """Build the element that records a failed request's proof, and finds the first answer to a repeated request."""
    return _element(arrival, {"stop_before": stop_before})


def _element(arrival: Arrival, members: dict[str, Any]) -> Element[Opened]:
    principal, ticket = arrival.principal, arrival.verified.ticket
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
    if isinstance(arrival, Checked) and arrival.is_admitted:
        members["is_admitted"] = True
    if isinstance(arrival, Identified):
        members |= {"key": arrival.terms.idempotency_key, "digest": arrival.digest.hex()}
    return Element(OPEN, owner, orjson.dumps(members), _read)


def _read(answer: dict[str, Any], body: bytes | None) -> Opened:
    outcome = answer.get("outcome")
    if outcome is None:
        return Opened(answer["admission"])
    if outcome == "denied":
        return Opened(answer["admission"], denied=answer["reason"])
    placed = Hold(
        HoldOutcome(outcome),
        answer["usage_id"],
        answer.get("available_microusd"),
        answer.get("budget_id"),
        read_replay(answer["usage_id"], answer["replay_status"], answer["replay_headers"], body),
    )
    return Opened(answer["admission"], placed)
