"""What must not have happened: each kind of case, with its cases."""

from collections.abc import Mapping
from dataclasses import dataclass

from tests.chaos.database import Database
from tests.upgrade.journal import READ, REFUSED, SESSION, STREAM, TOKEN, TURNED_AWAY, UNANSWERED, Journal

UNANSWERED_REQUESTS = "Requests without an answer"
CUT_STREAMS = "Streams cut without an error event and a receipt"
CUT_SESSIONS = "Sessions cut without an error event and the code 1012"
TURNED = "Requests turned away"
OTHER = "Requests refused"
NOT_CLOSED = "Calls that stay open or go to review"
UNTRUE = "Receipts that say what the ledger does not"
TWICE = "Keys charged twice"
REPEATED = "Repeated keys answered with 422"
CHANGED = "Repeated keys with another answer"
ENDLESS = "Calls that no repetition brought to an end"
CROSSED = "Cases across versions that differ"
MISSED = "Columns and functions that old processes miss"
AUDIT = "Findings of `audit_ledger`"
KINDS = (
    UNANSWERED_REQUESTS,
    CUT_STREAMS,
    CUT_SESSIONS,
    TURNED,
    OTHER,
    REPEATED,
    CHANGED,
    ENDLESS,
    CROSSED,
    MISSED,
    TWICE,
    UNTRUE,
    NOT_CLOSED,
    AUDIT,
)

CALLS = "SELECT id, state, charge_microusd FROM billing_reservation"
DOUBLED = """
SELECT idempotency_key FROM billing_reservation WHERE charge_microusd IS NOT NULL AND idempotency_key IS NOT NULL
 GROUP BY wallet_id, idempotency_key HAVING count(*) > 1
"""


@dataclass(frozen=True, slots=True)
class Books:
    """What the ledger says at the end: state and charge of each call, keys that were charged more than once, and the audit's findings."""

    calls: Mapping[str, tuple[str, int | None]]
    doubled: list[str]
    findings: list[str]


def read_books(database: Database, findings: list[str]) -> Books:
    """Read the calls from the ledger's tables."""
    with database.connect() as connection:
        calls = {str(call): (str(state), charge) for call, state, charge in connection.execute(CALLS)}
        doubled = [str(key) for (key,) in connection.execute(DOUBLED)]
    return Books(calls, doubled, findings)


def judge(journal: Journal, books: Books) -> dict[str, list[str]]:
    """Return all cases by kind; a kind without one is there, too."""
    cases: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for kind, case in journal.cases:
        cases[kind].append(case)
    for each in journal.of(UNANSWERED):
        cut = {STREAM: CUT_STREAMS, SESSION: CUT_SESSIONS}.get(each.kind, UNANSWERED_REQUESTS)
        cases[cut if each.status in (0, 200) else UNANSWERED_REQUESTS].append(str(each))
    cases[OTHER] += [str(each) for each in journal.of(REFUSED) if each.code != "idempotency_in_progress"]
    cases[TURNED] += [str(each) for each in journal.of(TURNED_AWAY) if each.kind in (READ, TOKEN, SESSION)]
    cases[TWICE] += books.doubled
    cases[AUDIT] += books.findings
    cases[NOT_CLOSED] += [
        f"{call} is {state}" for call, (state, _) in books.calls.items() if state not in ("settled", "released")
    ]
    cases[UNTRUE] += _untrue(journal, books)
    return cases


def _untrue(journal: Journal, books: Books) -> list[str]:
    """List receipts whose call has another charge, or none."""
    seen = [each for each in journal.exchanges if each.charge is not None and each.usage_id]
    stated = [(each, books.calls.get(each.usage_id, ("unknown", None))) for each in seen]
    return [f"{each}: {each.charge}, the ledger: {call}" for each, call in stated if each.charge != (call[1] or 0)]
