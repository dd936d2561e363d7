"""Answer counts: tenths by identity and day, in the settling transaction, without content."""

import json
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.db import connection

from judgement.models import AnswerCount
from judgement.operations.answer_counts import purge
from judgement.queries.distributions import recent
from judgement.rules.tally import bucket_of
from tests.judgement.bench import QUESTIONS, Bench, ask, post
from tests.judgement.judges import VERSION
from tests.judgement.test_label_tokens import Kind, question

DAY = date(2026, 11, 20)
"""On which tests count answers themselves. What a gateway counts is of a later day."""


def counted(identity: str) -> dict[str, dict[int, int]]:
    """Return the counts of an identity by kind and tenth."""
    found = [each for each in recent(DAY) if each.identity == identity]
    return {each.kind.value: {tenth: n for tenth, n in enumerate(each.counts) if n} for each in found}


def count(identity: str, *buckets: int, kind: str = "noul", day: date = DAY) -> None:
    """Count answers as the closing statement does."""
    stored = json.dumps({"identity": identity, "tally": [{"kind": kind, "bucket": bucket} for bucket in buckets]})
    with connection.cursor() as cursor:
        cursor.execute("SELECT judgement_count(ARRAY[%s::json], %s)", [stored, day])


def test_a_settled_answer_is_counted_once(bench: Bench) -> None:
    backend, caller = bench.backend(), bench.caller()
    for _ in range(2):
        post(caller, ask(model=backend, questions=QUESTIONS), key="same")
    assert counted(f"{backend}/{VERSION}") == {"noul": {7: 1}, "choice": {7: 1}, "score": {1: 1}}
    post(caller, ask(model=backend))
    assert counted(f"{backend}/{VERSION}")["noul"] == {7: 2}


def test_an_answer_with_an_unknown_charge_is_counted(bench: Bench) -> None:
    backend = bench.backend("usage-missing")
    post(bench.caller(), ask(model=backend))
    assert counted(f"{backend}/{VERSION}") == {"noul": {7: 1}}


def test_answers_that_no_client_received_are_not_counted(bench: Bench) -> None:
    for behaviour in ("garbage-json", "unavailable", "usage-negative"):
        post(bench.caller(), ask(model=bench.backend(behaviour)))
    assert not AnswerCount.objects.exists()


def test_a_fallback_counts_as_itself(bench: Bench) -> None:
    source, target = bench.backend("overloaded"), bench.backend()
    bench.fall_back(source, target)
    post(bench.caller(), ask(model=source, allow_fallback=True))
    assert [each.identity for each in recent(DAY)] == [f"{target}/{VERSION}"]


def test_rows_hold_no_content(bench: Bench) -> None:
    backend = bench.backend()
    post(bench.caller(), ask(model=backend, state="A secret state.", questions=QUESTIONS))
    stored = str(list(AnswerCount.objects.values()))
    assert not [word for word in ("secret", "grounded", "calm", "did:") if word in stored]


@pytest.mark.parametrize(
    ("kind", "answer", "tenth"),
    [
        (Kind.NOUL, {"probabilities": {"true": 0.0, "false": 1.0}}, 0),
        (Kind.NOUL, {"probabilities": {"true": 1.0, "false": 0.0}}, 9),
        (Kind.NOUL, {"probabilities": {"true": 0.3, "false": 0.7}}, 3),
        (Kind.CHOICE, {"answer": "a", "probabilities": {"a": 0.55, "b": 0.45}}, 5),
        (Kind.SCORE, {"answer": -1.0, "probabilities": {}}, 0),
        (Kind.SCORE, {"answer": 3.0, "probabilities": {}}, 9),
        (Kind.SCORE, {"answer": 1.0, "probabilities": {}}, 5),
    ],
)
def test_the_tenth_of_an_answer(kind: Kind, answer: dict[str, Any], tenth: int) -> None:
    labels = {Kind.NOUL: ("true", "false"), Kind.CHOICE: ("a", "b"), Kind.SCORE: ("-1", "3")}[kind]
    assert bucket_of(question(*labels, kind=kind), answer) == tenth


def test_a_backend_that_names_a_version_a_call_fills_no_table(bench: Bench) -> None:
    for number in range(103):
        count(f"judge/{number}", 5)
    assert AnswerCount.objects.values("identity").distinct().count() == 101
    assert counted("judge/*") == {"noul": {5: 3}}
    count("judge/7", 5)
    assert counted("judge/7") == {"noul": {5: 2}}


def test_old_days_are_deleted(bench: Bench) -> None:
    for days in (0, 90, 91):
        count("judge/1", 3, day=DAY - timedelta(days=days))
    assert purge(now=datetime(2026, 11, 20, 12, tzinfo=UTC)) == 1
    assert AnswerCount.objects.count() == 2


def test_versions_are_separate_the_latest_first(bench: Bench) -> None:
    count("judge/old", 1, 1, 2, day=DAY - timedelta(days=3))
    count("judge/new", 8, 8, 8, 9)
    newer, older = recent(DAY - timedelta(days=6))
    assert (newer.identity, newer.total, round(newer.mean, 3)) == ("judge/new", 4, 0.875)
    assert (older.identity, older.since, older.until) == ("judge/old", *[DAY - timedelta(days=3)] * 2)
    assert [(bar.label, bar.count, bar.share, bar.height) for bar in older.bars[:3]] == [
        ("0.0 to 0.1", 0, 0.0, 0.0),
        ("0.1 to 0.2", 2, 66.7, 100.0),
        ("0.2 to 0.3", 1, 33.3, 50.0),
    ]
    assert [each.identity for each in recent(DAY)] == ["judge/new"]
