"""Writes log records as JSON, one object a line (LOG_FORMAT=json)."""

import logging
import sys
import threading
from types import TracebackType

from gateway.core.contract.log_lines import json_line

MEMBERS = ("method", "route", "status", "duration_ms", "usage_id", "account")
"""What a record may say beside its message (`extra`)."""

NO_REQUEST = "-"

_log = logging.getLogger("gateway.crash")


class JsonFormatter(logging.Formatter):
    """Formats a record, its exception and its stack as one line."""

    def format(self, record: logging.LogRecord) -> str:
        request_id = getattr(record, "request_id", NO_REQUEST)
        return json_line(
            time_seconds=record.created,
            level=record.levelname,
            message=_message(record),
            logger=record.name,
            request_id=None if request_id == NO_REQUEST else request_id,
            **{name: getattr(record, name, None) for name in MEMBERS},
            exception=self._exception(record),
            stack=self.formatStack(record.stack_info) if record.stack_info else None,
        )

    def _exception(self, record: logging.LogRecord) -> str | None:
        return self.formatException(record.exc_info) if record.exc_info and record.exc_info[0] else record.exc_text


def _message(record: logging.LogRecord) -> str:
    """Return the text. One whose arguments do not fit is written without them: the library would print a traceback."""
    try:
        return record.getMessage()
    except Exception:  # noqa: BLE001 - see above
        return str(record.msg)


def log_everything() -> None:
    """Also log warnings and the exceptions that end the process or a thread, which Python prints over several lines."""
    logging.captureWarnings(True)
    sys.excepthook = _ended
    threading.excepthook = _thread_ended


def _ended(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, traceback)
        return
    _log.critical("the process ends: %s", kind.__name__, exc_info=(kind, error, traceback))


def _thread_ended(ended: threading.ExceptHookArgs) -> None:
    if ended.exc_value is not None and not issubclass(ended.exc_type, SystemExit):
        caught = (ended.exc_type, ended.exc_value, ended.exc_traceback)
        _log.error("a thread ended: %s", ended.exc_type.__name__, exc_info=caught)
