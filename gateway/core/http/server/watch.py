"""Limits the number of a server's connections, and periodically ends those that are overdue."""

import asyncio
from collections import Counter
from functools import lru_cache
from ipaddress import ip_address, ip_network
from typing import Protocol
from weakref import WeakKeyDictionary

from django.conf import settings

from gateway.core.http.server.uvicorn_internals import ServerState
from gateway.core.runtime.descriptors import descriptors_max

LOOKS_PER_LIMIT = 4
LOOK_MAX_SECONDS = 1.0


class Connection(Protocol):
    """The interface of a watched connection."""

    loop: asyncio.AbstractEventLoop
    client: tuple[str, int] | None

    def end_if_overdue(self, now: float) -> None: ...


class Watch:
    """The connections of one server. One timer checks all of them, so that it adds no cost per request."""

    def __init__(self) -> None:
        self._sources: dict[Connection, str] = {}
        self._per_source: Counter[str] = Counter()
        self._timer: asyncio.TimerHandle | None = None
        # The other half is for upstreams, the database and files.
        self._most = min(settings.CONNECTIONS_MAX, descriptors_max() // 2)

    def refusal(self, connection: Connection) -> int | None:
        """Return the status with which a new connection is refused, or None to accept it."""
        if len(self._sources) >= self._most:
            return 503
        source = _source(connection)
        is_bounded = source and not _is_proxy(source, tuple(settings.TRUSTED_PROXIES))
        return 429 if is_bounded and self._per_source[source] >= settings.CONNECTIONS_PER_ADDRESS_MAX else None

    def add(self, connection: Connection) -> None:
        """Watch a connection."""
        if self._timer is None:
            self._look_again(connection.loop)
        self._sources[connection] = source = _source(connection)
        self._per_source[source] += 1

    def remove(self, connection: Connection) -> None:
        """Remove a connection, whether or not it is watched."""
        source = self._sources.pop(connection, None)
        if source is None:
            return
        self._per_source[source] -= 1
        if not self._per_source[source]:
            del self._per_source[source]

    def _look_again(self, loop: asyncio.AbstractEventLoop) -> None:
        shortest = min(settings.HEAD_SECONDS, settings.WRITE_SECONDS)
        self._timer = loop.call_later(min(shortest / LOOKS_PER_LIMIT, LOOK_MAX_SECONDS), self._look, loop)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        now = loop.time()
        for connection in list(self._sources):
            connection.end_if_overdue(now)
        if self._sources:
            self._look_again(loop)


_watches: WeakKeyDictionary[ServerState, Watch] = WeakKeyDictionary()


def watch_of(server: ServerState) -> Watch:
    """Return the watch of a server's process."""
    if server not in _watches:
        _watches[server] = Watch()
    return _watches[server]


def _source(connection: Connection) -> str:
    return source_of(connection.client[0]) if connection.client else ""


@lru_cache(maxsize=4096)
def source_of(address: str) -> str:
    """Return the source that an address counts as: itself, or the 64-bit network from which an IPv6 host picks its
    addresses."""
    host = ip_address(address.partition("%")[0])
    if host.version == 4:
        return str(host)
    if host.ipv4_mapped:
        return str(host.ipv4_mapped)
    return str(ip_network((host, 64), strict=False).network_address)


@lru_cache(maxsize=4096)
def _is_proxy(source: str, networks: tuple[str, ...]) -> bool:
    host = ip_address(source)
    return any(host in ip_network(network) for network in networks)
