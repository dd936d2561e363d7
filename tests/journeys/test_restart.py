"""What a restart must not lose: money, answers, and the memory of used proofs."""

import os
import subprocess
from collections.abc import Callable

from tests.journeys.caller import Caller
from tests.support.gateways import GatewayProcess
from tests.support.upstream import FakeUpstream


def test_replays_an_answer_after_a_restart(
    gateway: GatewayProcess, signed_in: Callable[[str], Caller], upstream: FakeUpstream
) -> None:
    erin = signed_in("erin")
    first = erin.chat(key="before-the-restart")
    proof = erin.headers("GET", "/v1/wallet")
    assert erin.http.get("/v1/wallet", headers=proof).status_code == 200
    gateway.stop()
    gateway.start().wait_until_ready()
    again = signed_in("erin")
    second = again.chat(key="before-the-restart")
    assert second.content == first.content
    assert second.headers["Idempotent-Replayed"] == "true"
    assert len(upstream.ledger.entries) == 1
    assert again.http.get("/v1/wallet", headers=proof).json()["error"]["code"] == "invalid_dpop_proof"


def test_leaves_no_process_behind(gateway: GatewayProcess) -> None:
    assert gateway.process is not None
    group = gateway.process.pid
    children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(group)], capture_output=True, text=True).stdout.split()
    assert children
    gateway.stop()
    try:
        assert not [pid for pid in children if _alive(int(pid))]
    finally:
        gateway.start().wait_until_ready()


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
