"""Logging configuration."""

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
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"format": "%(levelname)s %(name)s %(request_id)s %(message)s"}},
    "filters": {
        "one_line": {"()": "gateway.core.runtime.logs.OneLine"},
        "request_id": {"()": "gateway.core.http.request_ids.CarriesRequestId"},
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "plain", "filters": ["request_id"]}},
    "root": {"handlers": ["console"], "level": env("LOG_LEVEL", default="WARNING")},
    # A refused request concerns the caller, not the operator.
    "loggers": {
        "integrations.sandbox": {"level": "INFO"},
        "django.request": {"level": "ERROR"},
        # A malformed Host and similar errors are caused by clients: one line, no traceback.
        **{f"django.security.{name}": {"filters": ["one_line"]} for name in SUSPICIOUS},
    },
}
