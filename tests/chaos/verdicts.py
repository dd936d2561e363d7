"""Faults that must not occur: each verdict lists its cases, and all lists must be empty."""

from collections import Counter
from collections.abc import Callable, Iterator

from tests.chaos.evidence import Call, Evidence
from tests.chaos.journal import CALL, Attempt
from tests.chaos.recovery import RETURN_SECONDS, slow_returns

ANSWER_SECONDS = 10.0
"""The time within which every client must get a response, whatever happened to the database."""
CLOSING_SECONDS = 15.0
"""The time after a response within which a killed server process may not have written its charge yet."""

Verdict = Callable[[Evidence], Iterator[str]]


def sent_without_a_hold(evidence: Evidence) -> Iterator[str]:
    """Find upstream work for a call that is not in the ledger."""
    for call_id in evidence.works.keys() - evidence.calls.keys():
        yield f"{call_id}: reached the upstream, and is not in the ledger"


def wrong_receipts(evidence: Evidence) -> Iterator[str]:
    """Find receipts whose hold or charge differs from the ledger's, or whose call was not charged."""
    for attempt in evidence.journal.attempts:
        call = evidence.calls.get(attempt.usage_id)
        if attempt.charge is not None and (call is None or (call.state, call.charge) != ("settled", attempt.charge)):
            yield f"{attempt.usage_id}: receipt over {attempt.charge}, the ledger has {_described(call)}"
        elif attempt.hold is not None and (call is None or call.hold != attempt.hold):
            yield f"{attempt.usage_id}: receipt over a hold of {attempt.hold}, the ledger has {_described(call)}"


def charged_twice(evidence: Evidence) -> Iterator[str]:
    """Find keys with two charges, and calls whose transfers differ from their charge."""
    charged = Counter((call.payer, call.key) for call in evidence.calls.values() if call.state == "settled")
    for (payer, key), times in charged.items():
        if times > 1:
            yield f"key {key} of {payer}: charged {times} times"
    for call in evidence.calls.values():
        if call.posted != (call.charge or 0):
            yield f"{call.id}: {_described(call)}, and {call.posted} was posted"


def wrong_charges(evidence: Evidence) -> Iterator[str]:
    """Find charges by the upstream's count that differ from its usage at the price, at most the hold."""
    for call in evidence.calls.values():
        costs = _costs(evidence, call)
        if call.basis == "upstream" and costs and call.charge != min(costs[-1], call.hold):
            yield f"{call.id}: {_described(call)}, its usage cost {costs[-1]} of a hold of {call.hold}"


def lost_charges(evidence: Evidence) -> Iterator[str]:
    """Find uncharged calls whose cost was reported to a process that survived."""
    attempts = evidence.journal.by_key()
    for call in evidence.calls.values():
        if call.is_closed or not _costs(evidence, call):
            continue
        tried = attempts.get((call.payer, call.key or ""), ())
        if not any(evidence.journal.died_under(attempt, CLOSING_SECONDS) for attempt in tried):
            yield f"{call.id}: {_described(call)}, although its cost was reported"


def served_and_released(evidence: Evidence) -> Iterator[str]:
    """Find calls that the upstream or the gateway answered successfully, and whose hold was released."""
    answered = {attempt.usage_id for attempt in evidence.journal.attempts if attempt.status == 200}
    for call in evidence.calls.values():
        done = any(work.is_complete for work in evidence.works.get(call.id, ()))
        if call.state == "released" and (done or call.id in answered):
            yield f"{call.id}: {_described(call)}, and was answered"


def overspent(evidence: Evidence) -> Iterator[str]:
    """Find charges above the hold, holds above the stated maximum, and wallets and budgets above their limits."""
    for call in evidence.calls.values():
        if (call.charge or 0) > call.hold or call.hold > call.max_cost:
            yield f"{call.id}: {_described(call)}, hold {call.hold}, maximum {call.max_cost}"
    if evidence.overspent:
        yield f"wallets and budgets: {evidence.overspent} micro-USD beyond their limits"


def stranded(evidence: Evidence) -> Iterator[str]:
    """Find holds of calls that never reached the upstream."""
    for call in evidence.calls.values():
        if not call.is_closed and call.id not in evidence.works:
            yield f"{call.id}: {_described(call)}, and never reached the upstream"


def left_open(evidence: Evidence) -> Iterator[str]:
    """Find calls that reached the upstream and are still open."""
    for call in evidence.calls.values():
        if call.state == "dispatched" and call.id in evidence.works:
            yield f"{call.id}: {_described(call)}"


def unanswered(evidence: Evidence) -> Iterator[str]:
    """Find requests without a timely response, not counting the time in which their own process was down."""
    for attempt in evidence.journal.attempts:
        if not attempt.is_prompt or attempt.has_left:
            continue
        waited = attempt.seconds - evidence.journal.away_seconds(attempt)
        if waited > ANSWER_SECONDS + evidence.journal.lag_seconds:
            yield f"{_named(attempt)}: {attempt.failure or attempt.status} after {waited:.1f} s"


def internal_errors(evidence: Evidence) -> Iterator[str]:
    """Find responses with an internal error."""
    for attempt in evidence.journal.attempts:
        if attempt.status == 500:
            yield f"{_named(attempt)}: 500 {attempt.code}"


def back_too_late(evidence: Evidence) -> Iterator[str]:
    """Find server processes and routes that were not back soon after the end of a fault's cause."""
    for late in slow_returns(evidence.journal):
        yield f"{late.process}, {late.route}: still failed {late.seconds:.1f} s after {late.kind}"


def unsound(evidence: Evidence) -> Iterator[str]:
    """Return the findings of `manage.py audit_ledger`."""
    yield from evidence.audit


VERDICTS: dict[str, Verdict] = {
    "Upstream calls without a hold in the ledger": sent_without_a_hold,
    "Receipts that say what the ledger does not": wrong_receipts,
    "Keys or calls charged twice": charged_twice,
    "Charges that are not price times reported usage": wrong_charges,
    "Charges that a living process knew and did not write": lost_charges,
    "Answered calls whose hold was released": served_and_released,
    "Overspent holds, wallets and budgets": overspent,
    "Calls never sent whose money stays held": stranded,
    "Calls that reached the upstream and stay open": left_open,
    f"Clients without an answer within {ANSWER_SECONDS:.0f} s": unanswered,
    "Answers 500": internal_errors,
    f"Processes and routes not back within {RETURN_SECONDS:.0f} s": back_too_late,
    "Findings of `audit_ledger`": unsound,
}


def judge(evidence: Evidence) -> dict[str, list[str]]:
    """Return the cases of every verdict."""
    return {name: sorted(verdict(evidence)) for name, verdict in VERDICTS.items()}


def _costs(evidence: Evidence, call: Call) -> list[int]:
    return [work.cost for work in evidence.works.get(call.id, ()) if work.cost is not None]


def _described(call: Call | None) -> str:
    if call is None:
        return "no such call"
    reason = call.resolution or call.review_reason
    return " ".join(str(part) for part in (call.state, call.charge, reason and f"({reason})") if part is not None)


def _named(attempt: Attempt) -> str:
    what = attempt.model if attempt.purpose == CALL else attempt.purpose
    return f"{what} at {attempt.process}"
