"""Settings for a single machine, as started by `make run`."""

from gateway.settings import base
from gateway.settings.base import *  # noqa: F403

DEMO_ADAPTER = True
EXPLAIN_REFUSALS = True
EVENTS_ON_LOOPBACK = True
LOCAL_MODEL = base.env.bool("LOCAL_MODEL", default=False)
# The origin on which `make demo-app` serves the example page, which calls this gateway.
DEMO_APP_HOST = "127.0.0.1"
DEMO_APP_PORT = base.env.int("DEMO_APP_PORT", default=8900)
CORS_ALLOWED_ORIGINS = [
    *base.CORS_ALLOWED_ORIGINS,
    *(f"http://{host}:{DEMO_APP_PORT}" for host in (DEMO_APP_HOST, "localhost")),
]
if not base.FIELD_ENCRYPTION_KEYS:
    # A command that only checks may run before the first start has created keys.
    FIELD_ENCRYPTION_KEYS = ["ZGV2ZWxvcG1lbnQta2V5LWRldmVsb3BtZW50LWtleS0="]
base.env.finish()
