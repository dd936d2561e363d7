"""Ends metered calls: settled, released, or left to review. A call ends at most once.

A closing is one element of the ledger's batches (`billing_close_calls`, which documents it). Its note identifies the
call and the amounts, so that recovery can close the call from the note alone.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

import orjson
from psycopg import DataError, Error, IntegrityError

from billing.operations.ledger import AMOUNT_MAX_MICROUSD, CloseOutcome, Release, Replay, Settlement
from billing.operations.statement import Statement
from billing.rules.owners import Owner
from gateway.core.contract.values import value_class
from gateway.core.database import BatchFunction, Element

CLOSE = BatchFunction(0, "billing_close_calls")

_AGAIN = "SELECT answer FROM billing_close_calls(%(closings)s::json, NULL, true)"

Evidence = Mapping[str, int | str]
"""What is known about a call in review: delivered quantities with their `charge_microusd`, the id of its upstream's own
record (`generation_id`), and the service tier."""

_OF_REVIEW = frozenset({CloseOutcome.REVIEW, CloseOutcome.CONFLICT, CloseOutcome.UNKNOWN})

Row = TypeVar("Row")


class ForeignAnswer(Exception):
    """The ledger's answer belongs to another statement. Whether the closing was executed is unknown."""


class TakeoverTerms(NamedTuple):
    """The model that took the call over, and the price version that the call is charged at."""

    model: str
    price_version: int


class OpenCall(NamedTuple):
    """The call to close: its owner, its hold, and, if any, the deployment that was tried last and the model that took the
    call over."""

    owner: Owner
    usage_id: str
    deployment: str | None = None
    takeover: TakeoverTerms | None = None


@value_class(frozen=True, slots=True)
class Closing(Generic[Row]):
    """One closing of the call `usage_id`. `note` is the part of it that is written to a journal: nothing of an answer, because a
    process also remembers the notes of the calls that it closed last."""

    usage_id: str
    element: Element[Row]
    note: bytes


def settle(
    call: OpenCall,
    *,
    cost_microusd: int,
    basis: str,
    quantities: Mapping[str, int | str],
    replay: Replay | None = None,
    stored: Mapping[str, Any] | None = None,
    function: BatchFunction = CLOSE,
) -> Closing[Settlement]:
    """Build the closing that charges a call, at most its hold.

    `quantities` is the usage record of `billing.rules.cost`. `function` closes as `billing_close_calls` does, and may write `stored` in the same transaction.
    """
    arguments = {"cost": min(cost_microusd, AMOUNT_MAX_MICROUSD), "basis": basis, "quantities": quantities}
    return _closing(call, "settle", arguments, _read_settlement, replay, stored, function)


def release(call: OpenCall, *, resolution: str) -> Closing[Release]:
    """Build the closing that releases a call's hold and frees its idempotency key."""
    return _closing(call, "release", {"resolution": resolution}, _read_release)


def review(
    call: OpenCall,
    *,
    reason: str,
    evidence: Evidence | None = None,
    replay: Replay | None = None,
    stored: Mapping[str, Any] | None = None,
    function: BatchFunction = CLOSE,
) -> Closing[CloseOutcome]:
    """Build the closing that leaves a call to review, if it is dispatched or was given up by others.

    `stored` and `function` as for `settle`: what a client received is stored even before its charge is known.
    """
    return _closing(call, "review", {"reason": reason, "evidence": evidence}, _read_review, replay, stored, function)


def from_note(note: bytes) -> Statement[str]:
    """Build the statement that closes a call from nothing but its note; it reads the outcome."""
    return Statement(_AGAIN, {"closings": f"[{_without_replay(note).decode()}]"}, _read_outcome)


def again(owner: Owner, note: bytes) -> Element[str]:
    """Build the element that closes a call from nothing but its note, like `from_note`."""
    return Element(CLOSE, owner, _without_replay(note), lambda answer, body: str(answer["outcome"]))


def _without_replay(note: bytes) -> bytes:
    """Drop what a note of the version before has of an answer, whose body it lacks."""
    noted = orjson.loads(note)
    return orjson.dumps({name: value for name, value in noted.items() if not name.startswith("replay_")})


def is_refused(closing: Closing[Any], error: Error) -> bool:
    """Return whether the database refused this closing because of its content, so that it can never be accepted.

    Only the closing's own function can say so; the error's context names the function that raised it.
    """
    context = error.diag.context or ""
    return isinstance(error, IntegrityError | DataError) and f"{closing.element.function.name}(" in context


def _closing(
    call: OpenCall,
    action: str,
    arguments: dict[str, Any],
    read: Any,
    replay: Replay | None = None,
    stored: Mapping[str, Any] | None = None,
    function: BatchFunction = CLOSE,
) -> Closing[Any]:
    arguments |= {"action": action, "usage_id": call.usage_id, "deployment": call.deployment}
    if call.takeover is not None:
        arguments["takeover"] = call.takeover._asdict()
    note = orjson.dumps(arguments)
    answered = {"replay_status": replay.status, "replay_headers": replay.headers} if replay else {}
    kept = {"kept": stored} if stored else {}
    sent = orjson.dumps({**arguments, **answered, **kept}) if answered or kept else note
    own = partial(_read_own, call.usage_id, read)
    element = Element(function, call.owner, sent, own, replay.body if replay else None)
    return Closing(call.usage_id, element, note)


def _read_own(usage_id: str, read: Any, answer: dict[str, Any], body: bytes | None) -> Any:
    """Read an answer that can only be this closing's. Raises ForeignAnswer for any other."""
    if answer.get("usage_id", usage_id) != usage_id:  # functions of the version before do not name the call
        raise ForeignAnswer(f"{usage_id}: {answer}")
    try:
        return read(answer, body)
    except (KeyError, ValueError) as error:
        raise ForeignAnswer(f"{usage_id}: {answer}") from error


def _read_settlement(answer: dict[str, Any], body: bytes | None) -> Settlement:
    outcome = CloseOutcome(answer["outcome"])
    return Settlement(outcome, answer["charge_microusd"], answer["hold_microusd"], answer["overrun_microusd"])


def _read_release(answer: dict[str, Any], body: bytes | None) -> Release:
    return Release(CloseOutcome(answer["outcome"]), answer["hold_microusd"])


def _read_review(answer: dict[str, Any], body: bytes | None) -> CloseOutcome:
    outcome = CloseOutcome(answer["outcome"])
    if outcome not in _OF_REVIEW:
        raise ValueError(outcome)
    return outcome


def _read_outcome(row: Any) -> str:
    answer = orjson.loads(row[0]) if isinstance(row[0], str) else row[0]
    return str(answer["outcome"])
