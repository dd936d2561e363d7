"""Calls of the ledger over one database connection, without a gateway: what their statements cost the database."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg.types.json import Json

from bench.months import ACCOUNTS, FILL, OWNERS, PRICE, WALLETS
from bench.processes import ROOT
from bench.run import say
from gateway.core.contract.ids import new_id
from gateway.run.postgres import Cluster

BODY = os.urandom(700)
"""What is kept of an answer: as long as a short one, and as random as encrypted text."""

OPEN = "SELECT answer->>'outcome' FROM inference_open_calls(%s, NULL, false)"
CLOSE = "SELECT answer->>'outcome' FROM billing_close_calls(%s, %s, false)"


@contextmanager
def cluster(home: Path) -> Iterator[str]:
    """Start a new cluster in a directory, and yield the URL of its database."""
    home.chmod(0o755)
    with closing(_Closed(Cluster(home))) as started:
        yield started.url


class _Closed:
    """A started cluster that `closing` stops."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.url = cluster.start()

    def close(self) -> None:
        self._cluster.stop()


def fill(url: str, calls: int) -> None:
    """Make the tables, and put in accounts with wallets and so many closed calls."""
    say(f"filling in {calls:,} calls")
    environment = {**os.environ, "DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "gateway.settings"}
    subprocess.run([sys.executable, "manage.py", "migrate", "--verbosity", "0"], cwd=ROOT, env=environment, check=True)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(PRICE.encode())
        for text in (ACCOUNTS, OWNERS, FILL):
            connection.execute(text.format(wallets=WALLETS).encode(), {"calls": calls} if text is FILL else None)
        connection.execute("VACUUM ANALYZE")


def hold_and_settle(connection: psycopg.Connection[Any], owners: Sequence[str]) -> tuple[float, float]:
    """Make one batch of calls, one for each owner. Return the session's seconds of processor time for their holds and for their
    settlements."""
    calls = [_call(owner) for owner in owners]
    closings = [_closing(call["usage_id"]) for call in calls]
    before = _processor_seconds(connection)
    opened = connection.execute(OPEN, [Json(calls)], prepare=True).fetchall()
    between = _processor_seconds(connection)
    closed = connection.execute(CLOSE, [Json(closings), [BODY] * len(calls)], prepare=True).fetchall()
    after = _processor_seconds(connection)
    assert set(opened) == {("reserved",)}, opened
    assert set(closed) == {("settled",)}, closed
    return between - before, after - between


def _call(owner: str) -> dict[str, Any]:
    usage_id = new_id("use")
    who = {"owner_kind": "account", "owner_key": owner, "did": owner, "is_admitted": True}
    what = {"usage_id": usage_id, "route": "chat.completions", "model": "fast", "request_id": f"req_{usage_id}"}
    return {
        **who,
        **what,
        "key": usage_id,
        "digest": "00" * 32,
        "deadline_seconds": 60,
        "hold": 100,
        "max_cost": 100,
    } | {"price_version": 1}


def _closing(usage_id: str) -> dict[str, Any]:
    kept = {"replay_status": 200, "replay_headers": {}, "deployment": "bench"}
    used = {"cost": 19, "basis": "upstream", "quantities": {"input_tokens": 60, "output_tokens": 16}}
    return {"action": "settle", "usage_id": usage_id, **used, **kept}


def _processor_seconds(connection: psycopg.Connection[Any]) -> float:
    """Read how long the session's process has run, exact to a microsecond."""
    return int(Path(f"/proc/{connection.info.backend_pid}/schedstat").read_text().split()[0]) / 1e9
