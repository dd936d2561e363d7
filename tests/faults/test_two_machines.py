"""Machines with one database and one broker: each closes the calls of its own dead server, whichever process it has left."""

from contextlib import ExitStack
from pathlib import Path

from gateway.run.ports import free_port
from inference.metering.journal_reader import READ_SECONDS
from inference.metering.recovery import ELSEWHERE_SECONDS, GRACE_SECONDS
from tests.faults.test_call_crash import send_and_die
from tests.support.concurrency import eventually
from tests.support.processes import gateway_process, worker_process
from tests.support.stage import Stage, chat

CLOSED_WITHIN_SECONDS = 30


def test_calls_of_a_dead_server_are_closed_by_its_machine_s_worker_or_next_server(stage: Stage, tmp_path: Path) -> None:
    alias, left = stage.model(max_output_tokens=20), []
    machines = {name: str(tmp_path / name) for name in ("other", "with a worker", "restarted")}
    with ExitStack() as running:
        for name in ("other", "with a worker"):
            running.enter_context(worker_process(CALL_JOURNAL_DIR=machines[name]))
        for name in ("with a worker", "restarted"):
            left.append(stage.caller(balance=5_000))
            with gateway_process(MOMENT="before sending", CALL_JOURNAL_DIR=machines[name]) as (origin, server):
                send_and_die(left[-1], chat(alias), origin)
                server.wait(timeout=60)
        running.enter_context(gateway_process(CALL_JOURNAL_DIR=machines["restarted"]))
        eventually(lambda: [caller.only_call.state for caller in left] == ["released", "released"])
        eventually(lambda: [path for path in tmp_path.rglob("*") if path.name.endswith(".dead")] == [])
    for caller in left:
        call = caller.only_call
        assert call.resolution == "not_sent"
        assert call.closed_at < call.deadline_at
        assert caller.wallet == {"balance": 5_000, "held": 0, "debt": 0}


def test_a_worker_closes_them_before_it_reaches_its_broker(stage: Stage, tmp_path: Path) -> None:
    alias, caller = stage.model(max_output_tokens=20), stage.caller(balance=5_000)
    with gateway_process(MOMENT="before sending", CALL_JOURNAL_DIR=str(tmp_path)) as (origin, server):
        send_and_die(caller, chat(alias), origin)
        server.wait(timeout=60)
    nowhere = f"redis://127.0.0.1:{free_port()}/0"
    with worker_process("Cannot connect to", CELERY_BROKER_URL=nowhere, CALL_JOURNAL_DIR=str(tmp_path)) as worker:
        eventually(lambda: caller.only_call.state == "released")
        assert " ready." not in worker.log
    assert caller.wallet == {"balance": 5_000, "held": 0, "debt": 0}


def test_the_intervals_add_up_to_less_than_the_promise() -> None:
    assert 2 * READ_SECONDS + GRACE_SECONDS < CLOSED_WITHIN_SECONDS
    assert 2 * READ_SECONDS + ELSEWHERE_SECONDS < CLOSED_WITHIN_SECONDS
    assert READ_SECONDS + GRACE_SECONDS < ELSEWHERE_SECONDS, "the dead process's own machine comes first"
