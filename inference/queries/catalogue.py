"""The catalogue as this process sees it: an immutable snapshot of models, upstreams and prices, renewed off the hot path.

A snapshot older than `CATALOGUE_TTL_SECONDS` is still used while a thread takes the next one; one older than
`AGE_MAX_SECONDS` is not, so a change is seen by every process within 15 s even where the database is slow.
"""

import asyncio
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.db import connections

from inference.models import Alias, RawModel
from inference.queries import prices, rows
from inference.rules.model import ServedModel, unconfigured

AGE_MAX_SECONDS = 12.0


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Every configured model by name. `taken_at` is monotonic seconds."""

    models: Mapping[str, ServedModel]
    taken_at: float

    def find(self, name: str, issuer: str) -> ServedModel | None:
        """Find the alias or raw model of this name as a caller of this integration may know it."""
        model = self.models.get(name)
        if model is None:
            return unconfigured(name)
        return model if model.is_visible_to(issuer) else None

    def listed(self, issuer: str) -> list[ServedModel]:
        """List what is enabled, as this caller may know it, by name."""
        visible = (model for model in self.models.values() if model.enabled and model.is_visible_to(issuer))
        return sorted(visible, key=lambda model: model.name)

    @property
    def age_seconds(self) -> float:
        """Return how many seconds ago the snapshot was taken."""
        return time.monotonic() - self.taken_at


class _Holder:
    """The process's snapshot and the one refresh that may be under way."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="catalogue")
        self._refresh: Future[Catalogue] | None = None
        self._forgotten = 0
        self.snapshot: Catalogue | None = None

    def usable(self) -> Catalogue | None:
        """Return the snapshot where it is young enough, and begin to renew it where it is not young."""
        snapshot = self.snapshot
        if snapshot is None or (age := snapshot.age_seconds) > AGE_MAX_SECONDS:
            return None
        if age > settings.CATALOGUE_TTL_SECONDS:
            self.refresh()
        return snapshot

    def refresh(self) -> "Future[Catalogue]":
        """Begin to take a new snapshot, or join the one who does."""
        with self._lock:
            if self._refresh is None or self._refresh.done():
                self._refresh = self._executor.submit(self._take, self._forgotten)
            return self._refresh

    def forget(self) -> None:
        with self._lock:
            self.snapshot, self._refresh = None, None
            self._forgotten += 1

    def _take(self, forgotten: int) -> Catalogue:
        try:
            snapshot = take_snapshot()
        finally:
            connections.close_all()  # this thread's own: back to the pool
        with self._lock:
            if forgotten == self._forgotten:
                self.snapshot = snapshot
        return snapshot


_holder = _Holder()


async def current() -> Catalogue:
    """Return the catalogue without waiting, but for the first time and after the database was away for long."""
    snapshot = _holder.usable()
    return snapshot if snapshot is not None else await asyncio.wrap_future(_holder.refresh())


def current_sync() -> Catalogue:
    """Return the catalogue to synchronous code."""
    snapshot = _holder.usable()
    return snapshot if snapshot is not None else _holder.refresh().result()


def forget() -> None:
    """Drop the snapshot, so that the next caller sees the rows as they are now."""
    _holder.forget()


def take_snapshot() -> Catalogue:
    """Read every row that a call can need."""
    taken_at = time.monotonic()
    horizon = datetime.now(UTC) + timedelta(seconds=AGE_MAX_SECONDS * 2)
    versions = prices.versions_until(horizon)
    aliases = Alias.objects.prefetch_related("deployments__upstream")
    raw_models = RawModel.objects.select_related("upstream").prefetch_related("integrations")
    models = [rows.of_alias(alias, versions) for alias in aliases]
    models += [rows.of_raw_model(raw, versions) for raw in raw_models]
    # An alias wins over a raw model of the same name: it is reversed so that aliases are written last.
    return Catalogue({model.name: model for model in reversed(models)}, taken_at)
