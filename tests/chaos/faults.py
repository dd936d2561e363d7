"""The faults and their schedule: each kind is a function that returns when the cause of the fault is gone."""

import contextlib
import os
import random
import signal
import time
from collections.abc import Callable, Iterable, Mapping
from itertools import cycle, islice

import psycopg
import requests

from tests.chaos.database import MAX_CONNECTIONS, Connection
from tests.chaos.installation import Installation
from tests.chaos.journal import Disturbance

Fault = Callable[[Installation, random.Random], str]
"""Returns the name of the gateway process that it killed, if any."""

PAUSE_SECONDS = (1.0, 3.0)
"""The duration of faults that are not instantaneous."""
RESTART_SECONDS = 120.0


def kill_backend(installation: Installation, dice: random.Random) -> str:
    """Kill one connection's process, as the kernel does when out of memory: the whole server crashes."""
    with installation.database.connect() as spare:
        victims = installation.database.backends(spare)
        dice.shuffle(victims)
        for victim in (*victims, spare.info.backend_pid):
            with contextlib.suppress(ProcessLookupError):  # it may have ended meanwhile
                installation.database.kill(victim, signal.SIGKILL)
                break
    return ""


def shut_down_at_once(installation: Installation, dice: random.Random) -> str:
    """Stop the server with an immediate shutdown."""
    installation.database.kill(installation.database.postmaster, signal.SIGQUIT)
    return ""


def kill_postmaster(installation: Installation, dice: random.Random) -> str:
    """Kill the server's first process; the others notice at different times."""
    installation.database.kill(installation.database.postmaster, signal.SIGKILL)
    return ""


def kill_gateway(installation: Installation, dice: random.Random) -> str:
    """Kill one server of the gateway with its workers, and wait until its successor responds."""
    name = dice.choice(list(installation.gateways))
    installation.kill(name)
    await_response(installation.gateways[name])
    return name


def kill_worker(installation: Installation, dice: random.Random) -> str:
    """Kill one worker of a server, which its first process replaces, and wait until the server responds."""
    name = dice.choice(list(installation.gateways))
    with contextlib.suppress(ProcessLookupError):  # it may be starting just now
        os.kill(dice.choice(installation.workers(name)), signal.SIGKILL)
    await_response(installation.gateways[name])
    return name


def stop_for_a_while(installation: Installation, dice: random.Random) -> str:
    """Suspend every process of the server, as on an overloaded machine, and resume them."""
    installation.database.signal_all(signal.SIGSTOP)
    try:
        time.sleep(dice.uniform(*PAUSE_SECONDS))
    finally:
        installation.database.signal_all(signal.SIGCONT)
    return ""


def make_read_only(installation: Installation, dice: random.Random) -> str:
    """Make the server read-only for a while, as before a failover."""
    installation.database.set({"default_transaction_read_only": "on"})
    try:
        time.sleep(dice.uniform(*PAUSE_SECONDS))
    finally:
        installation.database.set({"default_transaction_read_only": ""})
    return ""


def end_connections(installation: Installation, dice: random.Random) -> str:
    """End half of the gateway's connections, as an operator may."""
    with installation.database.connect() as connection:
        _terminate_half(connection, installation, dice)
    return ""


def use_up_connections(installation: Installation, dice: random.Random) -> str:
    """End half of the gateway's connections and open all remaining ones, for a while."""
    with contextlib.ExitStack() as stack:
        operator = stack.enter_context(contextlib.closing(installation.database.connect()))
        _take_all(installation, stack)
        until = time.monotonic() + dice.uniform(*PAUSE_SECONDS)
        _terminate_half(operator, installation, dice)
        while time.monotonic() < until:
            _take_all(installation, stack)
            time.sleep(0.05)
    return ""


FAULTS: Mapping[str, Fault] = {
    "backend killed": kill_backend,
    "immediate shutdown": shut_down_at_once,
    "postmaster killed": kill_postmaster,
    "gateway killed": kill_gateway,
    "worker killed": kill_worker,
    "database stopped": stop_for_a_while,
    "read-only": make_read_only,
    "connections ended": end_connections,
    "connections used up": use_up_connections,
}


def evenly_mixed(kinds: Iterable[str], count: int, dice: random.Random) -> list[str]:
    """List `count` faults of these kinds, equally often, in random order."""
    mixed = list(islice(cycle(kinds), count))
    dice.shuffle(mixed)
    return mixed


def moments(count: int, seconds: float, dice: random.Random) -> list[float]:
    """Return the start time of each fault in seconds: random, early in equal parts of the time."""
    part = seconds / max(count, 1)
    return [part * (number + dice.uniform(0.05, 0.35)) for number in range(count)]


def inflict(kind: str, installation: Installation, dice: random.Random) -> Disturbance:
    """Inflict one fault on the installation, and return when its cause is gone."""
    started_at = time.time()
    process = FAULTS[kind](installation, dice)
    return Disturbance(kind, started_at, time.time(), process)


def _terminate_half(connection: Connection, installation: Installation, dice: random.Random) -> None:
    pids = installation.database.backends(connection)
    chosen = dice.sample(pids, (len(pids) + 1) // 2)
    connection.execute("SELECT pg_terminate_backend(pid) FROM unnest(%s::int[]) pid", [chosen])


def _take_all(installation: Installation, stack: contextlib.ExitStack) -> None:
    """Open connections until there is none left."""
    with contextlib.suppress(psycopg.OperationalError):
        for _ in range(MAX_CONNECTIONS):
            stack.enter_context(contextlib.closing(installation.database.connect()))


def await_response(origin: str) -> None:
    """Wait until a server process responds at all."""
    until = time.monotonic() + RESTART_SECONDS
    while not _responds(origin):
        if time.monotonic() > until:
            raise RuntimeError(f"{origin} does not answer")
        time.sleep(0.05)


def _responds(origin: str) -> bool:
    try:
        return requests.get(f"{origin}/healthz", timeout=0.5).status_code > 0
    except requests.RequestException:
        return False
