"""Disturbs PostgreSQL under Patroni while clients call; `python -m tests.failover --only patroni` runs it."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from tests.failover.figures import Figures, measured
from tests.failover.load import Load
from tests.failover.patroni import PASSWORD, Member, Patroni
from tests.failover.promotions import LOAD_SECONDS, PROOFS, World, compare, use_again, world_on
from tests.faults.nodes import django_at
from tests.support.concurrency import eventually
from tests.support.upstream import FakeUpstream

AWAY_SECONDS = 60.0


@pytest.fixture(scope="module")
def cluster(django_db_setup: None, django_db_blocker: Any) -> Iterator[Patroni]:
    with django_db_blocker.unblock(), Patroni() as cluster:
        ports = [member.port for member in cluster.members]
        with django_at(ports, USER="postgres", PASSWORD=PASSWORD):
            connection.ensure_connection()
            yield cluster


@pytest.fixture
def world(cluster: Any, upstream: FakeUpstream, tmp_path: Path) -> Iterator[World]:
    cluster.wait_until_whole()
    with world_on(cluster, upstream, tmp_path) as world:
        yield world


def nothing(leader: Member) -> None:
    """Leave the cluster to itself."""


def test_switchover(world: World, cluster: Patroni) -> None:
    disturb(world, cluster, "switchover", lambda leader: cluster.switch_over())


def test_postgresql_is_killed(world: World, cluster: Patroni) -> None:
    disturb(world, cluster, "PostgreSQL killed", kill_postgresql, moves=False)


def test_patroni_is_killed(world: World, cluster: Patroni) -> None:
    disturb(world, cluster, "Patroni killed", cluster.kill_patroni, cluster.start)


def test_patroni_hangs(world: World, cluster: Patroni) -> None:
    def stop(leader: Member) -> None:
        cluster.signal_patroni(leader, signal.SIGSTOP)

    def go_on(leader: Member) -> None:
        cluster.signal_patroni(leader, signal.SIGCONT)

    disturb(world, cluster, "Patroni stopped", stop, go_on)


def test_etcd_is_away(world: World, cluster: Patroni) -> None:
    def leave(leader: Member) -> None:
        cluster.stop_etcd()
        time.sleep(AWAY_SECONDS)

    disturb(world, cluster, "etcd away", leave, lambda leader: cluster.start_etcd(), moves=False)


def test_etcd_is_away_without_failsafe(world: World, cluster: Patroni) -> None:
    def leave_and_return(leader: Member) -> None:
        cluster.stop_etcd()
        time.sleep(AWAY_SECONDS)
        cluster.start_etcd()

    cluster.change("failsafe_mode=false")
    disturb(world, cluster, "etcd away, failsafe_mode off", leave_and_return, moves=False)


def kill_postgresql(leader: Member) -> None:
    """Kill the primary as the kernel does when memory is short."""
    assert leader.postmaster is not None
    os.kill(leader.postmaster, signal.SIGKILL)


def disturb(
    world: World,
    cluster: Patroni,
    name: str,
    begin: Callable[[Member], object],
    end: Callable[[Member], object] = nothing,
    *,
    moves: bool = True,
) -> None:
    """Disturb the primary under load; calls have to pass before that ends, and, if it `moves`, at another primary."""
    figures = measured.setdefault(name, Figures(may_lose=False))
    leader = cluster.leader
    with Load(world.callers, world.alias) as load:
        time.sleep(LOAD_SECONDS)
        used = load.receipts[-PROOFS:]
        begin(leader)
        if moves:
            eventually(lambda: cluster.has_moved_from(leader))
        wait_for_receipts(world, load)
        end(leader)
        wait_for_receipts(world, load)
        cluster.wait_until_whole()
    figures.promotions += 1
    figures.silent_seconds += [longest_silence(load, did) for did in world.dids]
    use_again(world, used, figures)
    compare(world, load, figures)
    assert figures.violations() == []


def wait_for_receipts(world: World, load: Load) -> None:
    """Wait until every caller has got a receipt for a request that begins after now."""
    now = time.monotonic()
    eventually(lambda: load.answered_since(now).keys() == set(world.dids))


def longest_silence(load: Load, did: str) -> float:
    """Return the longest time between two receipts of a caller."""
    ends = sorted(receipt.ended_at for receipt in load.receipts if receipt.caller.did == did)
    return max(later - earlier for earlier, later in pairwise(ends))
