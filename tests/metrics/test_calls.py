"""What is counted of a request that has ended."""

import re
from pathlib import Path
from typing import Any

import pytest

from gateway.core.telemetry.observation import Observation, Outcome, Step
from gateway.metrics import exposition
from gateway.metrics.calls import CallCounts
from gateway.metrics.instruments import CallInstruments
from tests.metrics.text import Scrape

SECOND = 1_000_000_000
PRIVATE: dict[str, Any] = {
    "request_id": "req_secret",
    "traceparent": "00-secret",
    "account": "did:web:secret.example",
    "org_id": "org_secret",
    "client_id": "client-secret",
    "credential": "thumbprint-secret",
    "usage_id": "use_secret",
}


def observation(outcome: Outcome = Outcome.SETTLED, **fields: object) -> Observation:
    """Build a call of two seconds with an attempt that failed and one that was answered."""
    made = Observation("chat.completions", "")
    made.model, made.product, made.outcome = "fast", "studio", outcome
    for name, value in fields.items():
        setattr(made, name, value)
    made.ended_ns = made.began_ns + 2 * SECOND
    return made


def attempted(made: Observation) -> Observation:
    """Add an attempt that failed at once, and one from 0.2 s to 1.9 s whose first byte came after 0.4 s."""
    began = made.began_ns
    made.begin_attempt("1", "broken")
    made.end_attempt("upstream_429", 429)
    made.begin_attempt("2", "primary")
    made.begin_answer(200)
    made.end_attempt()
    failed, answered = made.attempts
    failed.began_ns, failed.ended_ns = began, began + SECOND // 10
    answered.began_ns, answered.first_byte_ns = began + SECOND // 5, began + SECOND * 6 // 10
    answered.ended_ns = began + SECOND * 19 // 10
    made.marks = [(Step.SENT, began), (Step.UPSTREAM_DONE, answered.ended_ns)]  # type: ignore[list-item]
    return made


def scrape_of(folder: Path, *observations: Observation) -> Scrape:
    counts = CallCounts(CallInstruments())
    for each in observations:
        counts.note(each)
    counts.write()
    return Scrape(exposition.render(folder, None).decode())


def test_a_call_is_counted_in_each_metric_once(folder: Path) -> None:
    scrape = scrape_of(folder, attempted(observation(charge_microusd=123)))
    labels = {"route": "chat.completions"}
    assert scrape.series("gateway_calls_total") == [({**labels, "model": "fast", "outcome": "settled"}, 1)]
    assert scrape.series("gateway_charged_microusd_total") == [({"model": "fast", "product": "studio"}, 123)]
    attempts = scrape.series("gateway_upstream_requests_total")
    assert sorted((each["upstream"], each["outcome"], count) for each, count in attempts) == [
        ("broken", "upstream_429", 1),
        ("primary", "ok", 1),
    ]
    for name, more, seconds in (
        ("gateway_call_seconds", {}, 2.0),
        ("gateway_overhead_seconds", {}, 0.1),
        ("gateway_first_byte_seconds", {"upstream": "primary"}, 0.4),
    ):
        assert scrape.series(f"{name}_count") == [({**labels, **more}, 1)]
        [(_, total)] = scrape.series(f"{name}_sum")
        assert total == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("seconds", "bucket"), [(0.0, "0.05"), (0.05, "0.05"), (0.051, "0.1"), (300.0, "300.0"), (301.0, "+Inf")]
)
def test_a_bucket_includes_its_upper_bound(folder: Path, seconds: float, bucket: str) -> None:
    made = observation()
    made.ended_ns = made.began_ns + round(seconds * SECOND)
    buckets = scrape_of(folder, made).series("gateway_call_seconds_bucket")
    assert next(labels["le"] for labels, value in buckets if value) == bucket
    assert buckets[-1][1] == 1


def test_what_is_written_later_is_added(folder: Path) -> None:
    counts = CallCounts(CallInstruments())
    for _ in range(3):
        counts.note(observation())
        counts.note(observation(Outcome.REVIEW, charge_microusd=7))
        counts.write()
    counts.write()
    scrape = Scrape(exposition.render(folder, None).decode())
    assert scrape.value("gateway_calls_total", outcome="settled") == 3
    assert scrape.value("gateway_calls_total", outcome="review") == 3
    assert scrape.value("gateway_call_seconds_count") == 6
    assert scrape.value("gateway_charged_microusd_total") is None, "a review has not charged anything yet"


@pytest.mark.parametrize("outcome", [Outcome.REFUSED, Outcome.REPLAYED, Outcome.FAILED])
def test_a_request_that_was_not_sent_is_counted_by_its_outcome_alone(folder: Path, outcome: Outcome) -> None:
    scrape = scrape_of(folder, observation(outcome, model="", product=""))
    [(labels, count)] = scrape.series("gateway_calls_total")
    assert (labels["model"], labels["outcome"], count) == ("", outcome, 1)
    assert scrape.names() == {"gateway_calls_total", "gateway_call_seconds", "gateway_database_up"}


def test_no_label_has_anything_private(folder: Path) -> None:
    made = attempted(observation(charge_microusd=5, code="rate_limited", hold_microusd=987654, **PRIVATE))
    scrape = scrape_of(folder, made)
    assert "secret" not in scrape.text
    assert "987654" not in scrape.text
    names = set(re.findall(r'([a-z_]+)="', scrape.text))
    assert names == {"route", "model", "product", "outcome", "upstream", "le"}
