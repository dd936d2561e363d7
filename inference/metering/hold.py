"""What the first statement of a metered call is asked, as one value from the checked request to SQL.

`inference_open_calls` documents every member. A new one of the hold is added here, there, and to the reservation's model.
"""

from typing import Any, NamedTuple

import orjson

from billing.operations.ledger import Hold, HoldOutcome, read_replay
from gateway.database import BatchFunction, Element
from inference.metering.checks import Arrival, Checked, Identified, Refused

Members = dict[str, str | int | float | None]

OPEN = BatchFunction(1, "inference_open_calls")


class Opened(NamedTuple):
    """What the ledger says: whether the caller is admitted, what became of the hold, why access was denied."""

    admission: str
    hold: Hold | None = None
    denied: str | None = None


def hold_element(checked: Checked, deadline_seconds: float) -> Element[Opened]:
    """Build the element that places the hold and marks the call as sent."""
    identified = checked.identified
    arrival = identified.arrival
    principal = arrival.principal
    members = {
        **_key(identified),
        "usage_id": checked.usage_id,
        "membership_id": principal.membership_id,
        "product": principal.product,
        "client_id": principal.client_id,
        "model": identified.model.name,
        "request_id": arrival.request.request_id,
        "hold": checked.request.hold_microusd,
        "max_cost": identified.terms.max_cost_microusd,
        "price_version": checked.price.id,
        "deadline_seconds": deadline_seconds,
    }
    return Element(OPEN, principal.owner, orjson.dumps(members), _read)


def refusal_element(refused: Refused) -> Element[Opened]:
    """Build the element that takes the proof of a request that fails, and finds the first answer of a repeated one."""
    known = refused.known
    if isinstance(known, Identified):
        return _stopped(_key(known), known.arrival, refused.stop_before)
    return _stopped(_proof(known), known, refused.stop_before)


def proof_element(arrival: Arrival) -> Element[Opened]:
    """Build the element that takes the proof, and no more."""
    return _stopped(_proof(arrival), arrival, "idempotency")


def _stopped(members: Members, arrival: Arrival, stop_before: str) -> Element[Opened]:
    return Element(OPEN, arrival.principal.owner, orjson.dumps({**members, "stop_before": stop_before}), _read)


def _key(identified: Identified) -> Members:
    key, digest = identified.terms.idempotency_key, identified.digest.hex()
    return {**_proof(identified.arrival), "key": key, "digest": digest}


def _proof(arrival: Arrival) -> Members:
    principal, ticket = arrival.principal, arrival.verified.ticket
    owner_kind, owner_key = principal.owner
    return {
        "proof": ticket.digest.hex(),
        "proof_issued_at": ticket.issued_at,
        "proof_expires_at": ticket.expires_at,
        "did": principal.did,
        "session_id": principal.session_id,
        "owner_kind": owner_kind,
        "owner_key": owner_key,
        "route": arrival.route.name,
    }


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
        read_replay(answer["replay_status"], answer["replay_headers"], body),
    )
    return Opened(answer["admission"], placed)
