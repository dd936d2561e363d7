"""What is kept of requests: exact sums for each hour, and a bounded number of rows."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from time import perf_counter_ns
from typing import Any

import pytest
from django.db import DataError, OperationalError, connections
from django.utils import timezone

from gateway.core.telemetry.models import HourlyTraffic, RequestTrace
from gateway.core.telemetry.observation import Observation, Outcome, Step
from gateway.core.telemetry.operations import purging
from gateway.core.telemetry.operations.recorder import Recorder
from gateway.core.telemetry.operations.writing import CommitUnknown, write
from gateway.core.telemetry.rules import batches
from gateway.core.telemetry.rules.batches import Batch
from tests.support.concurrency import eventually
from tests.support.observed import Observed
from tests.support.stage import Stage, chat

REQUESTS = 400


@pytest.fixture(autouse=True)
def nothing_recorded(db: None) -> Iterator[None]:
    """Begin with empty tables."""
    HourlyTraffic.objects.all().delete()
    RequestTrace.objects.all().delete()
    yield
    HourlyTraffic.objects.all().delete()
    RequestTrace.objects.all().delete()


def ended(model: str = "large", outcome: Outcome = Outcome.SETTLED, cause: str = "", **fields: Any) -> Observation:
    """Return an observation of a request that has ended."""
    observation = Observation("chat.completions", "req_1")
    observation.model, observation.outcome, observation.cause = model, outcome, cause
    for name, value in fields.items():
        setattr(observation, name, value)
    observation.ended_ns = perf_counter_ns()  # without the observers, among which is the process's own recorder
    return observation


def counted() -> dict[str, tuple[int, int]]:
    """Return the requests of each model and those without a row, over all hours."""
    sums: dict[str, tuple[int, int]] = {}
    for row in HourlyTraffic.objects.all():
        requests, untraced = sums.get(row.model, (0, 0))
        sums[row.model] = requests + row.requests, untraced + row.untraced
    return sums


def traced(request_id: str) -> RequestTrace:
    """Wait for the row of a request."""
    eventually(RequestTrace.objects.filter(request_id=request_id).exists)
    return RequestTrace.objects.get(request_id=request_id)


def failing_once(*errors: Exception) -> Callable[[Batch], None]:
    """Return a writer that raises these errors, one for each batch, and then writes."""
    left = list(errors)

    def write_or_raise(batch: Batch) -> None:
        if left:
            batch.traces()
            raise left.pop(0)
        write(batch)

    return write_or_raise


def test_a_request_is_added_to_its_hour() -> None:
    recorder = Recorder()
    seen = ended(upstream_name := "large")
    recorder.take(seen)
    assert recorder.flush()
    row = HourlyTraffic.objects.get()
    assert (row.model, row.outcome, row.cause, row.requests, row.untraced) == (upstream_name, "settled", "", 1, 0)
    assert row.hour == row.hour.replace(minute=0, second=0, microsecond=0)
    assert row.duration_microseconds == seen.duration_ns // 1000
    assert (sum(row.duration_buckets), sum(row.overhead_buckets), sum(row.first_byte_buckets)) == (1, 1, 0)


def test_sums_are_exact_while_two_processes_add_to_the_same_hours(settings: Any) -> None:
    settings.REQUEST_TRACES_PER_SECOND = 3
    recorders = [Recorder(), Recorder()]
    models = ["a", "b", "c", "d"]

    def work(recorder: Recorder, names: list[str]) -> None:
        try:
            for number in range(REQUESTS):
                recorder.take(ended(names[number % len(names)]))
                if number % 20 == 19:
                    assert recorder.flush()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as threads:
        for each in [threads.submit(work, recorders[0], models), threads.submit(work, recorders[1], models[::-1])]:
            each.result()
    sums = counted()
    assert {name: requests for name, (requests, _) in sums.items()} == dict.fromkeys(models, REQUESTS // 2)
    rows = HourlyTraffic.objects.all()
    assert sum(sum(row.duration_buckets) for row in rows) == 2 * REQUESTS
    assert RequestTrace.objects.count() == 2 * REQUESTS - sum(untraced for _, untraced in sums.values())


def test_those_that_went_wrong_get_their_rows_first(settings: Any) -> None:
    settings.REQUEST_TRACES_PER_SECOND = 4
    recorder = Recorder()
    for _ in range(6):
        recorder.take(ended("fine"))
    for _ in range(3):
        recorder.take(ended("refused", Outcome.REFUSED, "insufficient_funds"))
    assert recorder.flush()
    assert sorted(RequestTrace.objects.values_list("model", flat=True)) == ["fine", "refused", "refused", "refused"]
    assert counted() == {"fine": (6, 5), "refused": (3, 0)}


def test_no_rows_are_kept_if_the_setting_is_0(settings: Any) -> None:
    settings.REQUEST_TRACES_PER_SECOND = 0
    recorder = Recorder()
    recorder.take(ended())
    assert recorder.flush()
    assert (counted(), RequestTrace.objects.count()) == ({"large": (1, 1)}, 0)


def test_what_a_database_that_is_away_did_not_take_is_written_later() -> None:
    recorder = Recorder(failing_once(OperationalError("away"), OperationalError("away")))
    recorder.take(ended("first"))
    assert not recorder.flush()
    recorder.take(ended("second"))
    eventually(recorder.flush)
    assert counted() == {"first": (1, 0), "second": (1, 0)}
    assert RequestTrace.objects.count() == 2


def test_memory_is_bounded_while_the_database_is_away(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.REQUEST_TRACES_PER_SECOND = 2
    monkeypatch.setattr(batches, "KEYS_MAX", 5)
    batch = Batch(2)
    for number in range(20):
        older, batch = batch, Batch(2)
        batch.add(_key(number), ended())
        batch.merge(older)
        assert len(batch.sums) <= 5
        assert len(batch.wrong) + len(batch.usual) <= 4
    assert batch.lost == 15


def _key(number: int) -> Any:
    return batches.Key(0, "chat.completions", str(number), "", "", "settled", "")


@pytest.mark.parametrize("error", [CommitUnknown(), DataError("refused")])
def test_what_may_have_been_written_is_not_written_again(error: Exception) -> None:
    recorder = Recorder(failing_once(error))
    recorder.take(ended("lost"))
    assert recorder.flush()
    recorder.take(ended("next"))
    assert recorder.flush()
    assert counted() == {"next": (1, 0)}


def test_a_connection_that_is_lost_at_the_commit_leaves_it_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = Batch(10)
    batch.add(_key(1), ended())
    with monkeypatch.context() as patched:
        patched.setattr(connections["default"], "_commit", _lost)
        with pytest.raises(CommitUnknown):
            write(batch)


def _lost() -> None:
    raise OperationalError("the connection was lost")


def test_its_own_thread_writes(stage: Stage, observed: Observed) -> None:
    alias, caller = stage.model(max_output_tokens=20), stage.caller()
    answer = caller.post(chat(alias))
    row = traced(answer.headers["x-request-id"])
    seen, call = observed.only(caller.did), caller.only_call
    assert (row.usage_id, row.model, row.account, row.outcome) == (call.id, alias, caller.did, "settled")
    assert (row.hold_microusd, row.charge_microusd) == (call.hold_microusd, call.charge_microusd)
    assert [name for name, _ in row.steps["marks"]] == [mark.name for mark in seen.marks]
    [attempt] = row.steps["attempts"]
    assert (attempt["upstream"], attempt["status"], attempt["cause"]) == (row.upstream, 200, "")
    assert 0 <= attempt["began"] <= attempt["first_byte"] <= attempt["ended"] <= row.duration_microseconds
    assert row.steps["hold"]["price_version"] == call.price_version_id
    assert HourlyTraffic.objects.get(model=alias).requests == 1


def test_nothing_of_the_conversation_is_kept(stage: Stage, observed: Observed) -> None:
    alias, caller = stage.model("secret-error", max_output_tokens=20), stage.caller()
    answer = caller.post(chat(alias))
    kept = str(vars(traced(answer.headers["x-request-id"])))
    for secret in ("badgers", stage.api_key, "traceback", caller.token, "127.0.0.1"):
        assert secret not in kept


def test_purges_what_is_old(settings: Any) -> None:
    now = timezone.now()
    recorder = Recorder()
    recorder.take(ended(began_at=now - timedelta(days=settings.REQUEST_TRACE_DAYS, seconds=1)))
    recorder.take(ended(began_at=now))
    assert recorder.flush()
    HourlyTraffic.objects.create(hour=datetime(2020, 1, 1, tzinfo=UTC), model="old")
    assert purging.purge(now=now) == {"requests": 1, "hours": 1}
    assert RequestTrace.objects.get().began_at == now
    assert Step.ANSWERED not in counted()
    assert "old" not in counted()
