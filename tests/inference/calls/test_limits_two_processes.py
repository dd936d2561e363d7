"""Rate limits over two server processes: exact counts, no deadlock, and a process that is killed."""

import signal
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.db import connection
from django.utils import timezone

from billing.models import Call, Limit
from billing.queries import audit
from inference.metering import recovery
from inference.queries import catalogue
from tests.factories.limits import admissible
from tests.support import plain_http
from tests.support.concurrency import at_once, eventually
from tests.support.processes import by_turns, gateway_process, two_processes
from tests.support.stage import CHAT, Caller, Stage, chat


@pytest.fixture(autouse=True)
def no_limits_remain() -> Iterator[None]:
    yield
    Limit.objects.all().delete()
    catalogue.forget()


def ask(caller: Caller, model: str, origin: str, key: str) -> httpx.Response:
    headers = caller.headers(CHAT) | {"Idempotency-Key": key, "x-service-max-cost-microusd": "100000"}
    return plain_http.request("POST", origin + CHAT, json=chat(model), headers=headers, timeout=300)


def test_fifty_at_once_admit_ten(stage: Stage, tmp_path: Path) -> None:
    """Of one account, and of ten accounts that share an alias."""
    own, shared = stage.model(max_output_tokens=16), stage.model(max_output_tokens=16)
    callers = [stage.caller() for _ in range(10)]
    Limit.objects.create(scope="account", subject=callers[0].did, requests_per_minute=10)
    Limit.objects.create(scope="alias", subject=shared, requests_per_minute=10)

    def call(model: str, whose: list[Caller], origin: str, number: int) -> httpx.Response:
        return ask(whose[number % len(whose)], model, origin, f"key {number}")

    with two_processes(CATALOGUE_TTL_SECONDS="0", CALL_JOURNAL_DIR=str(tmp_path)) as origins:
        for model, whose in ((own, callers[:1]), (shared, callers[1:])):
            begun_at = time.monotonic()
            answers = at_once(*by_turns(origins, partial(call, model, whose), range(50)))
            statuses = Counter(answer.status_code for answer in answers)
            assert statuses[200] in admissible(10, begun_at)
            assert statuses[200] + statuses[429] == 50
            refused = [answer.json()["error"]["details"]["limit"] for answer in answers if answer.status_code == 429]
            assert set(refused) == {"requests_per_minute"}
            assert Call.objects.filter(model=model).count() == statuses[200]
    assert audit.findings() == []


def test_batches_with_several_shared_limits_never_wait_for_each_other(stage: Stage, tmp_path: Path) -> None:
    """Wallets of two processes call several limited aliases at once, each in another order; a deadlock would be an answer 503."""
    models = [stage.model(max_output_tokens=16) for _ in range(4)]
    callers = [stage.caller() for _ in range(8)]
    for model in models:
        Limit.objects.create(
            scope="alias", subject=model, requests_per_minute=10**6, tokens_per_minute=10**6, concurrent=10**6
        )
    Limit.objects.create(scope="client", subject="https://studio.example", requests_per_minute=10**6, concurrent=10**6)
    orders = [models, models[::-1], models[2:] + models[:2], models[1::2] + models[::2]]

    def call(origin: str, number: int) -> list[int]:
        caller = callers[number % len(callers)]
        order = orders[number % len(orders)] * 3
        return [ask(caller, model, origin, f"{number} {turn}").status_code for turn, model in enumerate(order)]

    before = deadlocks()
    with two_processes(CATALOGUE_TTL_SECONDS="0", CALL_JOURNAL_DIR=str(tmp_path)) as origins:
        statuses = at_once(*by_turns(origins, call, range(16)))
    assert Counter(status for each in statuses for status in each) == {200: 16 * 12}
    assert deadlocks() == before
    assert audit.findings() == []


def deadlocks() -> int:
    """Return how many deadlocks the database has ended; its statistics may be a moment old."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
        [(count,)] = cursor.fetchall()
    return int(count)


def test_the_calls_of_a_killed_process_count_until_they_are_closed(stage: Stage, tmp_path: Path) -> None:
    model, endless = stage.model(max_output_tokens=16), stage.model("endless")
    caller = stage.caller()
    Limit.objects.create(scope="account", subject=caller.did, concurrent=1)
    catalogue.forget()
    with gateway_process(CATALOGUE_TTL_SECONDS="0", CALL_JOURNAL_DIR=str(tmp_path)) as (origin, process):
        headers = caller.headers(CHAT) | {"Idempotency-Key": "stream", "x-service-max-cost-microusd": "100000"}
        body: dict[str, Any] = {**chat(endless), "stream": True}
        with httpx.stream("POST", origin + CHAT, json=body, headers=headers, timeout=300) as stream:
            assert stream.status_code == 200
            process.send_signal(signal.SIGKILL)
            process.wait()
    assert caller.post(chat(model)).json()["error"]["details"]["limit"] == "concurrent"
    assert eventually(lambda: recovery.recover(now=timezone.now(), folder=tmp_path) or not_open(caller))
    assert caller.post(chat(model)).status_code == 200


def not_open(caller: Caller) -> bool:
    return caller.calls[0].state != "dispatched"
