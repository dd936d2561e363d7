"""Logging configuration."""

import logging
from typing import Any

from gateway.core.contract.log_lines import FORMATS, JSON, TEXT
from gateway.settings.reading import env

SUSPICIOUS = (
    "DisallowedHost",
    "DisallowedModelAdminLookup",
    "DisallowedModelAdminToField",
    "DisallowedRedirect",
    "RequestDataTooBig",
    "SuspiciousMultipartForm",
    "SuspiciousOperation",
    "TooManyFieldsSent",
    "TooManyFilesSent",
)
LEVELS = tuple(logging.getLevelNamesMapping())

LOG_FORMAT = env.choice("LOG_FORMAT", FORMATS, default=TEXT)
LOG_REQUESTS = env.flag("LOG_REQUESTS", default=False)
LOG_LEVEL = env.choice("LOG_LEVEL", LEVELS, default="WARNING")

# The server's own handlers would write in its own form, and its lines of requests have their whole address.
_SERVER: dict[str, dict[str, Any]] = {
    "uvicorn": {"handlers": [], "propagate": True},
    "uvicorn.error": {"handlers": [], "propagate": True},
    "uvicorn.access": {"handlers": [], "propagate": False},
}
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        TEXT: {"format": "%(levelname)s %(name)s %(request_id)s %(message)s"},
        JSON: {"()": "gateway.core.runtime.json_logs.JsonFormatter"},
    },
    "filters": {
        "one_line": {"()": "gateway.core.runtime.logs.OneLine"},
        "request_id": {"()": "gateway.core.http.request_ids.CarriesRequestId"},
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT, "filters": ["request_id"]}},
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    # A refused request concerns the caller, not the operator.
    "loggers": {
        "integrations.sandbox": {"level": "INFO"},
        "gateway.requests": {"level": "INFO"},
        "gateway.version": {"level": "INFO"},
        "django.request": {"level": "ERROR"},
        # A malformed Host and similar errors are caused by clients: one line, no traceback.
        **{f"django.security.{name}": {"filters": ["one_line"]} for name in SUSPICIOUS},
        **(_SERVER if LOG_FORMAT == JSON else {}),
    },
}
