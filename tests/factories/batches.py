"""Calls as the gateway opens, checks in and closes them: elements of its batch functions, and the statements that run them."""

from typing import Any

import orjson

from billing.operations.ledger import Hold, HoldOutcome, read_replay
from billing.operations.statement import Statement
from billing.rules.owners import Owner
from gateway.core.contract.ids import new_id
from gateway.core.database import BatchFunction, Element

OPEN = BatchFunction(1, "inference_open_calls")
CHECK_IN = BatchFunction(2, "inference_check_in_calls")
PROOF_EXPIRES_AT = 4_000_000_000  # Unix seconds, far beyond any test's clock


def opening(*, owner: Owner, did: str, hold: int, digest: bytes = b"digest", **members: Any) -> Element[Hold]:
    """Build the element that takes a proof and places a hold; `members` are those of `inference_open_calls`."""
    call = {
        "proof": new_id("dig").encode().hex(),
        "proof_issued_at": 0,
        "proof_expires_at": PROOF_EXPIRES_AT,
        "did": did,
        "owner_kind": owner[0],
        "owner_key": owner[1],
        "route": "chat.completions",
        "model": "fast",
        "digest": digest.hex(),
        "hold": hold,
        "max_cost": hold,
        "deadline_seconds": 120,
        **members,
    }
    return Element(OPEN, owner, orjson.dumps(call), _read_hold)


def check_in(
    *, owner: Owner, did: str, usage_id: str, evidence: dict[str, int], alive_seconds: float = 120
) -> Element[str]:
    """Build the element that notes what a stream has delivered; it reads the outcome."""
    stream = {"usage_id": usage_id, "evidence": evidence, "alive_seconds": alive_seconds, "did": did}
    return Element(CHECK_IN, owner, orjson.dumps(stream), lambda answer, body: str(answer["outcome"]))


def statement(*elements: Element[Any], wait: bool = True) -> Statement[Any]:
    """Build the statement that runs elements of one function as a batch; each row is one's answer and body."""
    parameters = {
        "elements": "[" + ",".join(element.arguments.decode() for element in elements) + "]",
        "bodies": [element.body for element in elements],
        "wait": wait,
    }
    sql = "SELECT answer::text, body FROM {}(%(elements)s::json, %(bodies)s::bytea[], %(wait)s)"
    return Statement(sql.format(elements[0].function.name), parameters, lambda row: read(elements[0], row))


def run(*elements: Element[Any], wait: bool = True) -> list[Any]:
    """Run elements of one function as a batch on Django's connection and return what each reads."""
    rows = statement(*elements, wait=wait).rows()
    return [read(element, row) for element, row in zip(elements, rows, strict=True)]


def read(element: Element[Any], row: Any) -> Any:
    """Read an element's row; None where its wallet was busy."""
    answer, body = orjson.loads(row[0]), row[1]
    return None if answer.get("outcome") == "busy" else element.read(answer, body)


def _read_hold(answer: dict[str, Any], body: bytes | None) -> Hold:
    assert answer["admission"] == "ok", answer
    assert answer["outcome"] != "denied", answer
    if answer["outcome"] == HoldOutcome.RATE_LIMITED:
        return Hold(HoldOutcome.RATE_LIMITED, None)
    replay = read_replay(None, answer["replay_status"], answer["replay_headers"], body)
    outcome = HoldOutcome(answer["outcome"])
    return Hold(outcome, answer["usage_id"], answer["available_microusd"], answer["budget_id"], replay)
