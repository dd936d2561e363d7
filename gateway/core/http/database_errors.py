"""Maps database errors to catalogue errors."""

import logging
from typing import Any

import psycopg
from django.db import DataError, IntegrityError, InterfaceError, InternalError, OperationalError
from psycopg_pool import PoolClosed, PoolTimeout, TooManyRequests

from gateway.core.contract import errors

log = logging.getLogger("gateway.api")

# As raised by Django, and by the driver, which the metered routes use directly. OperationalError covers errors that may
# be transient: a server that is unreachable, starting, stopping or full, a timeout of a lock or statement, a deadlock.
DATABASE_AWAY = (
    OperationalError,
    InterfaceError,
    psycopg.OperationalError,
    psycopg.InterfaceError,
    PoolTimeout,
    PoolClosed,
    TooManyRequests,
)

READ_ONLY = "25006"  # a standby, or a server becoming one; the driver classifies it as an internal error
LIMIT_EXCEEDED_CLASS = "54"  # such as a value that is too long for an index
CHANGED_MEANWHILE = {"23001", "23503", "23505", "23P01"}  # rows that another request added or removed

NOT_STORABLE = "The request contains a value that cannot be stored."


def as_catalogue_error(exc: Exception) -> errors.ApiError | None:
    """Return the error for the caller, or None for an error that only a bug can cause."""
    state = sqlstate_of(exc)
    if state.startswith(LIMIT_EXCEEDED_CLASS):
        return _refused_value(exc)
    if isinstance(exc, DATABASE_AWAY) or (_is_read_only(exc) and state == READ_ONLY):
        log.error("database unavailable: %s", exc)
        return errors.NotReady(headers={"Retry-After": "1"})
    if isinstance(exc, DataError | psycopg.DataError) or _is_lone_surrogate(exc):
        return _refused_value(exc)
    if isinstance(exc, IntegrityError):
        log.error("a database constraint refused a request", exc_info=exc)
        return errors.RevisionConflict() if state in CHANGED_MEANWHILE else errors.InvalidRequest(NOT_STORABLE)
    return None


def sqlstate_of(exc: Exception) -> str:
    """Return the SQLSTATE of an error from Django or the driver; empty if there is none."""
    driver: Any = exc if isinstance(exc, psycopg.Error) else exc.__cause__
    return getattr(driver, "sqlstate", None) or ""


def _is_read_only(exc: Exception) -> bool:
    return isinstance(exc, InternalError | psycopg.InternalError)


def _is_lone_surrogate(exc: Exception) -> bool:
    """Return whether a text contains a lone surrogate, which no encoding can write."""
    return isinstance(exc, UnicodeEncodeError) and exc.reason == "surrogates not allowed"


def _refused_value(exc: Exception) -> errors.InvalidRequest:
    # Logged, because the edge should have refused it and named the member.
    log.error("the database refused a value from a request", exc_info=exc)
    return errors.InvalidRequest(NOT_STORABLE)
