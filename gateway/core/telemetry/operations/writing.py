"""Writes a batch in one transaction: adds its sums to the hours, and inserts the rows of its requests."""

from datetime import UTC, datetime
from typing import Any

import orjson
from django.db import connection, transaction

from gateway.core.telemetry.models import HourlyTraffic, RequestTrace
from gateway.core.telemetry.observation import Attempt, Observation
from gateway.core.telemetry.rules.batches import Batch

_NAMES = ("duration", "first_byte", "overhead")
_NUMBERS = ("requests", "untraced", *(f"{name}_microseconds" for name in _NAMES))
_BUCKETS = tuple(f"{name}_buckets" for name in _NAMES)
_COLUMNS = ", ".join((*HourlyTraffic.KEY, *_NUMBERS, *_BUCKETS))
_TYPES = ", ".join(
    [
        "hour timestamptz",
        *(f"{name} text" for name in HourlyTraffic.KEY[1:]),
        *(f"{name} bigint" for name in _NUMBERS),
        *(f"{name} bigint[]" for name in _BUCKETS),
    ]
)
_SUMS = ", ".join(
    [
        *(f"{name} = t.{name} + excluded.{name}" for name in _NUMBERS),
        *(
            f"{name} = ARRAY(SELECT coalesce(a, 0) + coalesce(b, 0)"  # noqa: S608 - names of columns
            f" FROM unnest(t.{name}, excluded.{name}) WITH ORDINALITY s (a, b, n) ORDER BY n)"
            for name in _BUCKETS
        ),
    ]
)
_KEY = ", ".join(HourlyTraffic.KEY)
_IN_ORDER = ", ".join(["hour", *(f'{name} COLLATE "C"' for name in HourlyTraffic.KEY[1:])])

# In the order of the key, so that processes that add to the same hours wait for each other, and never in a circle.
ADD_HOURS = f"""
INSERT INTO telemetry_hour AS t ({_COLUMNS})
SELECT {_COLUMNS} FROM json_to_recordset(%s::json) AS n ({_TYPES}) ORDER BY {_IN_ORDER}
ON CONFLICT ({_KEY}) DO UPDATE SET {_SUMS}
"""  # noqa: S608 - names of columns


class CommitUnknown(Exception):
    """The connection was lost at the commit: the batch may have been written."""


def write(batch: Batch) -> None:
    """Write a batch. Raises CommitUnknown, or the database's error if nothing was written."""
    traces, is_complete = batch.traces(), False
    try:
        with transaction.atomic():
            _write(batch, traces)
            is_complete = True
    except Exception as error:
        if is_complete:
            raise CommitUnknown from error
        raise


def _write(batch: Batch, traces: list[Observation]) -> None:
    hours = [_hour(*item) for item in batch.sums.items()]
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL synchronous_commit = off")  # nobody waits for the disk because of statistics
        cursor.execute(ADD_HOURS, [orjson.dumps(hours).decode()])
    RequestTrace.objects.bulk_create([trace_of(observation) for observation in traces])


def _hour(key: Any, sums: Any) -> dict[str, Any]:
    return {**key._asdict(), "hour": datetime.fromtimestamp(key.hour, UTC).isoformat(), **sums.columns()}


def trace_of(observation: Observation) -> RequestTrace:
    """Build the row of a request."""
    first_byte = observation.first_byte_ns
    return RequestTrace(
        request_id=observation.request_id,
        usage_id=observation.usage_id,
        began_at=observation.began_at,
        route=observation.route,
        model=observation.model,
        product=observation.product,
        upstream=observation.upstream,
        account=observation.account,
        org_id=observation.org_id,
        client_id=observation.client_id,
        credential=observation.credential,
        is_stream=observation.is_stream,
        status=observation.status,
        code=observation.code,
        outcome=str(observation.outcome),
        cause=observation.cause,
        duration_microseconds=observation.duration_ns // 1000,
        first_byte_microseconds=None if first_byte is None else first_byte // 1000,
        overhead_microseconds=observation.overhead_ns // 1000,
        hold_microusd=observation.hold_microusd,
        charge_microusd=observation.charge_microusd,
        cost_microusd=observation.cost_microusd,
        steps=steps_of(observation),
    )


def steps_of(observation: Observation) -> dict[str, Any]:
    """Return the steps as the column has them."""
    began = observation.began_ns
    return {
        "marks": [[str(mark.name), (mark.ns - began) // 1000] for mark in observation.marks],
        "attempts": [_attempt(attempt, began) for attempt in observation.attempts],
        "hold": dict(observation.hold_inputs),
    }


def _attempt(attempt: Attempt, began_ns: int) -> dict[str, Any]:
    return {
        "deployment": attempt.deployment,
        "upstream": attempt.upstream,
        "began": _since(began_ns, attempt.began_ns),
        "first_byte": _since(began_ns, attempt.first_byte_ns),
        "ended": _since(began_ns, attempt.ended_ns),
        "status": attempt.status,
        "cause": attempt.cause,
    }


def _since(began_ns: int, ns: int | None) -> int | None:
    return None if ns is None else (ns - began_ns) // 1000
