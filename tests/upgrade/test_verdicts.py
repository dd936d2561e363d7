"""The tool's own judgement: what it takes for an answer, and what for a case."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.upgrade import verdicts
from tests.upgrade.client import judge_error, judge_stream
from tests.upgrade.journal import (
    CALL,
    CUT,
    READ,
    REFUSED,
    SESSION,
    STREAM,
    TURNED_AWAY,
    UNANSWERED,
    WHOLE,
    Exchange,
    Journal,
)
from tests.upgrade.tables import Shape, called, missed
from tests.upgrade.verdicts import Books, judge

RECEIPT = b': service {"usage_id":"use_1","charge_microusd":7}'
CHUNK, END = b'data: {"choices":[]}', b"data: [DONE]"
CUT_OFF = b'data: {"error":{"code":"not_ready"}}'
FAILED = b'data: {"error":{"code":"upstream_error"}}'


@pytest.mark.parametrize(
    ("lines", "ending", "charge"),
    [
        ([CHUNK, END, RECEIPT], WHOLE, 7),
        ([CHUNK, CUT_OFF, RECEIPT], CUT, 7),
        ([CHUNK, CUT_OFF], UNANSWERED, None),
        ([CHUNK, END], UNANSWERED, None),
        ([CHUNK], UNANSWERED, None),
        ([], UNANSWERED, None),
        ([CHUNK, RECEIPT], UNANSWERED, 7),
        ([CHUNK, FAILED, RECEIPT], UNANSWERED, 7),
    ],
)
def test_a_stream_has_its_end_or_the_error_event_and_then_its_receipt(
    lines: list[bytes], ending: str, charge: int | None
) -> None:
    stream = Exchange(STREAM, 0.0)
    judge_stream(stream, lines)
    assert (stream.ending, stream.charge) == (ending, charge)


@pytest.mark.parametrize(
    ("content", "ending"),
    [
        (orjson.dumps({"error": {"code": "not_ready"}}), TURNED_AWAY),
        (orjson.dumps({"error": {"code": "insufficient_funds"}}), REFUSED),
        (orjson.dumps({"error": "invalid_grant"}), REFUSED),
        (b"<html><body><h1>503 Service Unavailable</h1>", UNANSWERED),
        (b"", UNANSWERED),
        (b"[]", UNANSWERED),
    ],
)
def test_an_error_that_is_not_the_gateways_is_no_answer(content: bytes, ending: str) -> None:
    exchange = Exchange(CALL, 0.0)
    judge_error(exchange, content)
    assert exchange.ending == ending


def cases(*exchanges: Exchange, **books: Any) -> dict[str, int]:
    """Return how many cases of each kind there are, without kinds that have none."""
    found = judge(Journal(list(exchanges)), Books(**{"calls": {}, "doubled": [], "findings": [], **books}))
    assert set(found) == set(verdicts.KINDS)
    return {kind: len(each) for kind, each in found.items() if each}


def test_what_ends_well_is_no_case() -> None:
    paid = Exchange(CALL, 0.0, ending=WHOLE, status=200, usage_id="use_1", charge=7)
    cut = Exchange(STREAM, 0.0, ending=CUT, status=200, usage_id="use_2", charge=3)
    waits = Exchange(CALL, 0.0, ending=REFUSED, status=409, code="idempotency_in_progress")
    calls = {"use_1": ("settled", 7), "use_2": ("settled", 3), "use_3": ("released", None)}
    assert cases(paid, cut, waits, Exchange(SESSION, 0.0, ending=CUT), calls=calls) == {}


def test_each_kind_is_counted() -> None:
    lost = [Exchange(kind, 0.0) for kind in (CALL, STREAM, SESSION)]
    by_proxy = Exchange(STREAM, 0.0, status=503)
    away, refused = Exchange(READ, 0.0, ending=TURNED_AWAY), Exchange(CALL, 0.0, ending=REFUSED, code="invalid_request")
    untrue = Exchange(CALL, 0.0, ending=WHOLE, usage_id="use_1", charge=7)
    calls = {"use_1": ("settled", 8), "use_2": ("dispatched", None), "use_3": ("review", None)}
    assert cases(*lost, by_proxy, away, refused, untrue, calls=calls, doubled=["key"], findings=["one", "two"]) == {
        verdicts.UNANSWERED_REQUESTS: 2,
        verdicts.CUT_STREAMS: 1,
        verdicts.CUT_SESSIONS: 1,
        verdicts.TURNED: 1,
        verdicts.OTHER: 1,
        verdicts.TWICE: 1,
        verdicts.UNTRUE: 1,
        verdicts.NOT_CLOSED: 2,
        verdicts.AUDIT: 2,
    }


def test_old_processes_miss_columns_and_functions_that_are_gone_and_rows_that_they_cannot_write() -> None:
    before = Shape(
        {("call", "id"): "text", ("call", "cost"): "bigint"}, frozenset({("call", "id")}), frozenset({"f() text"})
    )
    grown = Shape(
        {**before.columns, ("call", "note"): "text", ("new", "id"): "text"},
        before.required | {("new", "id")},
        before.functions | {"g() text"},
    )
    assert missed(before, grown) == set()
    broken = Shape(
        {("call", "id"): "uuid", ("call", "why"): "text"}, frozenset({("call", "id"), ("call", "why")}), frozenset()
    )
    assert missed(before, broken) == {
        "call.cost is gone",
        "call.id was text",
        "call.why is required and has no default",
        "f() text is gone",
    }
    assert missed(before, broken, {"g"}) == missed(before, broken) - {"f() text is gone"}


def test_what_a_version_calls_is_found_in_the_code_that_serves(tmp_path: Path) -> None:
    for folder, name in (("billing", "billing_hold"), ("tests", "billing_weigh")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "ledger.py").write_text(f'QUERY = "SELECT {name}(%s)"')
    assert called(tmp_path) & {"billing_hold", "billing_weigh"} == {"billing_hold"}
