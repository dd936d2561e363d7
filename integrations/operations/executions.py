"""Life cycle of executions: requested, taken by one worker, and ended by it, or without it if its heartbeat stops."""

import hashlib
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, TypeVar
from uuid import uuid4

import orjson
from django.conf import settings
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from accounts.rules.principal import Principal
from gateway.core.contract.errors import IdempotencyKeyReused
from gateway.core.contract.limits import ACTIVE_EXECUTIONS_MAX
from gateway.core.contract.route_limits import rate_limited
from gateway.core.database.purge import purge as purge_rows
from integrations.models.execution import Execution
from integrations.operations import heartbeats

STALE_SECONDS = 30
"""The time without a heartbeat after which a worker counts as dead."""
UNCLAIMED_SECONDS = 15
"""The time in the queue after which an execution's message is sent again, because it may be lost."""
MESSAGE_SECONDS = 60
"""The time after which an unread message is dropped; it has been sent again by then."""
RETRY_FULL_SECONDS = 5
"""When to ask again for an execution if too many are unfinished."""
BATCH = 100
"""Small batches, because the output in a row can take half a megabyte."""

Row = TypeVar("Row", bound=Execution)


def fingerprint(body: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a request's body."""
    return hashlib.sha256(orjson.dumps(body, option=orjson.OPT_SORT_KEYS)).hexdigest()


def requested_before(found: QuerySet[Row], principal: Principal, values: Mapping[str, Any]) -> Row | None:
    """Return the caller's execution with the body's key, if there is one. Raises IdempotencyKeyReused if it had another
    body.
    """
    key = values.get("idempotencyKey")
    if key is None:
        return None
    known = found.filter(requested_by=principal.did, idempotency_key=key).first()
    if known is not None and known.fingerprint != fingerprint(values):
        raise IdempotencyKeyReused(param="idempotencyKey")
    return known


def check_room(found: QuerySet[Any], scope: str, of_whom: str) -> None:
    """Raise RateLimited if too many executions are unfinished."""
    if found.filter(status__in=Execution.ACTIVE).count() >= ACTIVE_EXECUTIONS_MAX:
        message = f"{ACTIVE_EXECUTIONS_MAX} {of_whom} are queued or running already."
        raise rate_limited(scope, "active_executions", RETRY_FULL_SECONDS, message)


def request_columns(principal: Principal, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns that record a request: requester, time, idempotency key and fingerprint."""
    return {
        "requested_by": principal.did,
        "idempotency_key": values.get("idempotencyKey"),
        "fingerprint": fingerprint(values),
        "created_at": timezone.now(),
    }


def take(model: type[Row], execution_id: str) -> Row | None:
    """Take a queued execution for this worker and return it; None if another worker has it, it is over, or this worker
    is shutting down.
    """
    if heartbeats.is_shutting_down():
        return None
    worker = uuid4().hex
    queued = _rows(model).filter(id=execution_id, status=Execution.Status.QUEUED)
    started = {"status": Execution.Status.RUNNING, "started_at": Now(), "heartbeat_at": Now(), "worker": worker}
    if not queued.update(**started):
        return None
    return _rows(model).get(id=execution_id)


def finish(row: Execution, status: Execution.Status, **values: Any) -> bool:
    """End an execution; return False without a change if it was abandoned meanwhile."""
    over = {"status": status, "finished_at": Now(), "inputs": "", **values}
    return bool(heartbeats.held(row).update(**over))


def give_up(model: type[Execution]) -> int:
    """End executions whose worker is dead; return how many."""
    stale = _rows(model).filter(status__in=Execution.BEGUN, heartbeat_at__lt=Now() - timedelta(seconds=STALE_SECONDS))
    over = {"worker": "", "inputs": "", "finished_at": Now()}
    cancelled = stale.filter(status=Execution.Status.CANCELLING).update(status=Execution.Status.CANCELLED, **over)
    failed = {"status": Execution.Status.FAILED, "reason": heartbeats.LOST, "error_code": "worker_lost"}
    return cancelled + stale.filter(status=Execution.Status.RUNNING).update(**failed, **over)


def unclaimed(model: type[Execution]) -> list[str]:
    """Return queued executions whose message may be lost, because it should have been read."""
    waiting = _rows(model).filter(
        status=Execution.Status.QUEUED, created_at__lt=Now() - timedelta(seconds=UNCLAIMED_SECONDS)
    )
    return list(waiting.order_by("created_at").values_list("id", flat=True)[:100])


def purge(model: type[Execution]) -> int:
    """Delete old finished executions; return how many."""
    over = _rows(model).filter(finished_at__lt=Now() - timedelta(days=settings.EXECUTION_DAYS))
    return purge_rows(over.order_by("finished_at"), batch=BATCH)


def _rows(model: type[Row]) -> QuerySet[Row]:
    return model._default_manager.all()  # noqa: SLF001 (documented)
