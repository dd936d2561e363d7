"""Sixteen of the worst bodies that are still accepted, at once, from an account without money.

What they take of the memory is checked. How long they keep the event loop depends on the machine and on who else works
on it, so it is printed (`pytest -rP`); on an idle machine it should stay under 50 ms.
"""

import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from gateway.core.contract.limits import MODEL_BODY_MAX_BYTES
from tests.support.processes import gateway_process
from tests.support.stage import Stage

BODIES = 16
VALUES = 99_900
MEMORY_MAX_KIB = 300 * 1024


def worst(alias: str) -> Iterator[tuple[str, bytes]]:
    """Yield named bodies that are expensive to parse, store, check or serialize."""
    room = MODEL_BODY_MAX_BYTES - 200
    texts = {
        "empty arrays": b'"a":[' + b",".join([b"[]"] * VALUES) + b"]",
        "objects": b'"a":[' + b",".join([b'{"b":1}'] * (VALUES // 2)) + b"]",
        "escapes": b'"a":"' + b"\\n" * (room // 2) + b'"',
        "wide text": b'"a":"\xf0\x9f\x98\x80' + b"x" * room + b'"',
        "long fractions": b'"a":[' + b",".join([b"0." + b"7" * (room // VALUES - 3)] * VALUES) + b"]",
        "long names": b",".join(b'"%0*d":1' % (room // VALUES - 5, number) for number in range(VALUES)),
        "short texts": b'"a":[' + b",".join([b'"' + b"\\t" * 48 + b'"'] * VALUES) + b"]",
    }
    wide = "\U0001f600".encode()
    texts["wide names"] = b",".join(b'"%0*d%b":1' % (room // VALUES - 9, number, wide) for number in range(VALUES))
    texts["a long integer"] = b'"b":18446744073709551616,"c":"%b' % wide + b"\\n" * (room // 2 - 20) + b'"'
    for name, text in texts.items():
        yield name, b'{"model":"%b","messages":[{"role":"user","content":"x"}],%b}' % (alias.encode(), text)
    parts = b",".join([b'{"type":"text","text":"x"}'] * (VALUES // 3))
    yield "parts", b'{"model":"%b","messages":[{"role":"user","content":[%b]}]}' % (alias.encode(), parts)


def peak_kib(pid: int) -> int:
    """Return the most memory that a process has had (Linux)."""
    [line] = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1])


def longest_pause(process: Any, pauses: Path) -> str:
    """Return the longest pause of a second without work, in milliseconds: what the machine itself adds."""
    process.send_signal(signal.SIGUSR1)
    time.sleep(1)
    return pauses.read_text()


@pytest.mark.parametrize("kind", [None, "wide text", "long names"])
def test_sixteen_of_the_worst_bodies_stay_within_the_memory(stage: Stage, tmp_path: Path, kind: str | None) -> None:
    """One of each kind and some twice, and sixteen of the kinds that take the most."""
    alias = stage.model(max_output_tokens=20, context_tokens=1_000_000)
    caller, pauses = stage.caller(balance=0), tmp_path / "pauses"
    kinds = [body for name, body in worst(alias) if kind in (None, name)]

    def send(number: int) -> Any:
        return caller.post(None, content=kinds[number % len(kinds)], max_cost=1_000_000_000, timeout=120)

    environment = {"PAUSES": str(pauses), "LARGE_BODY_WAIT_SECONDS": "50"}
    with gateway_process("tests.server.observed_server", **environment) as (caller.origin, process):
        caller.post(None, content=b"{}")
        idle_ms = longest_pause(process, pauses)

        process.send_signal(signal.SIGUSR1)
        with ThreadPoolExecutor(BODIES) as threads:
            answers = [(answer.status_code, answer.text) for answer in threads.map(send, range(BODIES))]
        print(f"at rest {idle_ms} ms; longest pause {pauses.read_text()} ms, peak {peak_kib(process.pid) // 1024} MiB")  # noqa: T201
        assert {status for status, _ in answers} == {402}, answers
        assert peak_kib(process.pid) < MEMORY_MAX_KIB
