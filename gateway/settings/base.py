"""Settings shared by all environments. Every value that an operator may set is read from the environment here."""

import os
import sys
from pathlib import Path

from whitenoise.compress import Compressor

from gateway import job_texts
from gateway.run.addresses import read_address
from gateway.run.environment import load as load_data_dir
from gateway.schedule import beat_schedule
from gateway.settings.console import FORMAT_MODULE_PATH, UNFOLD  # noqa: F401
from gateway.settings.cors import *  # noqa: F403
from gateway.settings.enumerations import ENUM_NAMES
from gateway.settings.hosts import trusted_networks
from gateway.settings.limits import *  # noqa: F403
from gateway.settings.logs import LOG_FORMAT, LOG_REQUESTS, LOGGING  # noqa: F401
from gateway.settings.packages import folder_of
from gateway.settings.portal import *  # noqa: F403
from gateway.settings.reading import env
from gateway.settings.retention import *  # noqa: F403
from gateway.settings.traces import TRACES  # noqa: F401

BASE_DIR = Path(__file__).resolve().parents[2]

DATA_DIR = Path(os.environ.get("DATA_DIR") or BASE_DIR / ".data").absolute()
# A command in another shell finds the running gateway, and its keys, through the same data directory.
for name, value in load_data_dir(DATA_DIR).items():
    os.environ.setdefault(name, value)

DEFAULT_SECRET_KEY = "insecure-development-key"  # noqa: S105
SECRET_KEY = env("SECRET_KEY", default=DEFAULT_SECRET_KEY)
FIELD_ENCRYPTION_KEYS: list[str] = env.list("FIELD_ENCRYPTION_KEYS", default=[])
DEBUG = False
ALLOWED_HOSTS: list[str] = env.list("ALLOWED_HOSTS", default=["*"])

HOST = env("HOST", default="localhost")
PORT = env.int("PORT", default=8000)
GATEWAY_BASE_URL = env("GATEWAY_BASE_URL", default=f"http://{HOST}:{PORT}").rstrip("/")
PORTAL_URL = env("PORTAL_URL", default=GATEWAY_BASE_URL).rstrip("/")
# The proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted; none by default.
TRUSTED_PROXIES: list[str] = []
with env.noting():
    TRUSTED_PROXIES = trusted_networks(env.list("TRUSTED_PROXIES", default=[]))
DEMO_CONFIG = BASE_DIR / "gateway" / "demo.yaml"
GATEWAY_CONFIG = env("GATEWAY_CONFIG", default=str(DEMO_CONFIG))

INSTALLED_APPS = [
    "unfold.apps.BasicAppConfig",
    "unfold.contrib.filters",
    "gateway.site.ConsoleConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "corsheaders",
    "channels",
    "drf_spectacular",
    *PORTAL_APPS,
    "gateway",
    "gateway.core.jobs",
    "gateway.core.events",
    "gateway.core.telemetry",
    "accounts",
    "billing",
    "organizations",
    "inference",
    "judgement",
    "integrations",
]

if "runserver" in sys.argv:
    # Only needed by that command; elsewhere daphne's Twisted would cost each process a second and 30 MB.
    INSTALLED_APPS.insert(0, "daphne")

MIDDLEWARE = [
    "gateway.core.http.request_ids.RequestIdMiddleware",
    "gateway.core.http.rate_limits.RateLimitHeaders",
    "django.middleware.security.SecurityMiddleware",
    "gateway.core.http.server.static_files.StaticFilesMiddleware",
    "corsheaders.middleware.CorsMiddleware",
    "gateway.core.http.boundary.ApiBoundaryMiddleware",
    "gateway.core.http.edge.EdgeMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "gateway.core.http.fetch_site.FetchSiteMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    *PORTAL_MIDDLEWARE,
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "gateway.urls"
ASGI_APPLICATION = "gateway.asgi.application"
APPEND_SLASH = False

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "accounts.portal.context.brand",
                "accounts.portal.context.mail",
                "accounts.portal.context.sections",
            ]
        },
    }
]

# The synchronous routes and the metered ones have separate pools in each process.
SYNC_POOL_MAX_CONNECTIONS = env.int("SYNC_POOL_MAX_CONNECTIONS", default=8)
SYNC_REQUESTS_MAX = env.int("SYNC_REQUESTS_MAX", default=16)
# Limits on the server resources that clients can hold.
CONNECTIONS_MAX = env.int("CONNECTIONS_MAX", default=8000)
CONNECTIONS_PER_ADDRESS_MAX = env.int("CONNECTIONS_PER_ADDRESS_MAX", default=1000)
HEAD_SECONDS = env.seconds("HEAD_SECONDS", 10.0)
BODY_SECONDS = env.seconds("BODY_SECONDS", 60.0)
BODY_IDLE_SECONDS = env.seconds("BODY_IDLE_SECONDS", 15.0)
WRITE_SECONDS = env.seconds("WRITE_SECONDS", 30.0)
SOCKET_PING_SECONDS = env.seconds("SOCKET_PING_SECONDS", 20.0)
REALTIME_IDLE_SECONDS = env.seconds("REALTIME_IDLE_SECONDS", 600.0)
KEEP_ALIVE_SECONDS = env.seconds("KEEP_ALIVE_SECONDS", 5.0)
# The end of a server process: how long it serves requests after SIGTERM, and how long open ones then have to end.
DRAIN_NOTICE_SECONDS = env.seconds("DRAIN_NOTICE_SECONDS", 2.0)
DRAIN_SECONDS = env.seconds("DRAIN_SECONDS", 10.0)
LARGE_BODIES_MAX_BYTES = env.int("LARGE_BODIES_MAX_BYTES", default=96 * 1024 * 1024)
UPLOADS_DIR = env.str("UPLOADS_DIR", default="")
UPLOADS_MAX_BYTES = env.int("UPLOADS_MAX_BYTES", default=1024 * 1024 * 1024)
LARGE_BODY_WAIT_SECONDS = env.seconds("LARGE_BODY_WAIT_SECONDS", 10.0)
LEDGER_POOL_MAX_CONNECTIONS = env.int("LEDGER_POOL_MAX_CONNECTIONS", default=6)
DATABASES = {"default": env.db_url("DATABASE_URL", default="postgresql://127.0.0.1:5432/gateway")}
DATABASES["default"] |= {
    "ENGINE": "gateway.core.database.backend",
    "OPTIONS": {
        # A former primary that still takes writes, but whose commits wait for ever, may be the first host.
        **({"load_balance_hosts": "random"} if "," in DATABASES["default"]["HOST"] else {}),
        **DATABASES["default"].get("OPTIONS", {}),
        "pool": {"min_size": 1, "max_size": SYNC_POOL_MAX_CONNECTIONS},
    },
}
# How long a request, and a job or command, waits for one database response; 0 is forever.
DATABASE_WAIT_SECONDS = env.seconds("DATABASE_WAIT_SECONDS", 6.0)
DATABASE_JOB_WAIT_SECONDS = env.seconds("DATABASE_JOB_WAIT_SECONDS", 600.0)

# How many model requests each process records with their steps per second; the others are only counted. 0 records none.
REQUEST_TRACES_PER_SECOND = env.int("REQUEST_TRACES_PER_SECOND", default=10)

AUTH_USER_MODEL = "accounts.Account"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 8}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["accounts.authentication.DPoPAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["gateway.core.api.access.DeclaredAccess", "organizations.permissions.LiveAccess"],
    "DEFAULT_PARSER_CLASSES": ["gateway.core.api.parsers.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["gateway.core.api.renderers.OrjsonRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "gateway.core.api.negotiation.JSONOnly",
    "DEFAULT_SCHEMA_CLASS": "gateway.core.api.schema.GatewaySchema",
    "EXCEPTION_HANDLER": "gateway.core.http.exceptions.handle",
    "UNAUTHENTICATED_USER": None,
    "UNAUTHENTICATED_TOKEN": None,
    "URL_FORMAT_OVERRIDE": None,
}

SPECTACULAR_SETTINGS = {
    "TITLE": "Account Gateway",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_AUTHENTICATION": [],
    "SERVE_PERMISSIONS": [],
    "SCHEMA_PATH_PREFIX": "/v1",
    # Enumeration names for generated clients, which would otherwise be derived from members: `ScopeEnum` for a
    # budget's.
    "ENUM_NAME_OVERRIDES": ENUM_NAMES,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,  # it would repeat each value
    "PREPROCESSING_HOOKS": ["gateway.reference.leave_out_variants"],
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "gateway.core.api.schema_components.add_shared_components",
        "gateway.core.api.schema_components.require_answered_members",
        "gateway.core.api.schema_errors.add_error_schemas",
        "gateway.reference.complete",
        "gateway.core.api.samples.add_code_samples",
    ],
}

TIME_ZONE = "UTC"
USE_I18N = False

STATIC_URL = "/static/"
STATIC_ROOT = Path(os.environ.get("STATIC_ROOT") or DATA_DIR / "static").absolute()
# The reference's renderer, as the package `flask-openapi-scalar` carries it; nothing of that package is imported.
STATICFILES_DIRS = [("scalar", folder_of("flask_openapi_scalar") / "templates/scalar/js")]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "gateway.core.http.server.static_files.CollectedFiles"},
}
# Scripts refer to each other by plain names, which are served from their source directory.
WHITENOISE_USE_FINDERS = True
WHITENOISE_KEEP_ONLY_HASHED_FILES = True
WHITENOISE_SKIP_COMPRESS_EXTENSIONS = [*Compressor.SKIP_COMPRESS_EXTENSIONS, "map"]

# The directory in which each server process journals its open calls, for recovery. On a local disk.
CALL_JOURNAL_DIR = Path(env("CALL_JOURNAL_DIR", default=str(DATA_DIR / "journal")))
# Where `python -m gateway.metrics` serves /metrics, and where the processes of this machine keep what they count.
METRICS_ADDRESS: tuple[str, int] | None = None
with env.noting():
    METRICS_ADDRESS = read_address("METRICS_ADDRESS", given) if (given := env("METRICS_ADDRESS", default="")) else None
METRICS_DIR = Path(env("METRICS_DIR", default=str(DATA_DIR / "metrics")))
REVIEW_RELEASE_HOURS = env.int("REVIEW_RELEASE_HOURS", default=72)

# Proofs
DPOP_REQUIRE_EXP = env.bool("DPOP_REQUIRE_EXP", default=False)
DPOP_NONCES = env.bool("DPOP_NONCES", default=False)

# The maximum age of a process's copy of the configuration. Every process must see a change within 15 s.
CATALOGUE_TTL_SECONDS = env.seconds("CATALOGUE_TTL_SECONDS", 5.0)

# Upstreams: a named timeout for every phase.
UPSTREAM_CONNECT_SECONDS = env.seconds("UPSTREAM_CONNECT_SECONDS", 5.0)
UPSTREAM_IDLE_SECONDS = env.seconds("UPSTREAM_IDLE_SECONDS", 60.0)
UPSTREAM_CONNECTIONS_MAX = env.int("UPSTREAM_CONNECTIONS_MAX", default=1000)
UPSTREAM_KEY_DAYS = env.days(
    "UPSTREAM_KEY_DAYS", default=365, at_least=1, because="a key's age is counted from when it was put in force"
)
STREAM_CHECKPOINT_SECONDS = env.seconds("STREAM_CHECKPOINT_SECONDS", 5.0)

# Payments. Without a key they are disabled: checkout responds `integration_unavailable`.
STRIPE_SECRET_KEY = env("STRIPE_SECRET_KEY", default="")
STRIPE_WEBHOOK_SECRET = [secret for part in env.list("STRIPE_WEBHOOK_SECRET", default=[]) if (secret := part.strip())]
STRIPE_API_BASE = env("STRIPE_API_BASE", default="https://api.stripe.com").rstrip("/")
STRIPE_TIMEOUT_SECONDS = env.seconds("STRIPE_TIMEOUT_SECONDS", 10.0)
# The origins of hosted payment pages; add your custom domain here. The portal's forms redirect only to these.
PAYMENT_PAGE_ORIGINS = env.list("PAYMENT_PAGE_ORIGINS", default=["https://checkout.stripe.com"])
# The first month whose seats are charged to the organizations' saved payment methods. Without it, invoices are drafts.
SEAT_COLLECTION_FROM = env.month("SEAT_COLLECTION_FROM")
if SEAT_COLLECTION_FROM and not STRIPE_SECRET_KEY:
    env.note("Set STRIPE_SECRET_KEY, with which SEAT_COLLECTION_FROM collects, or unset SEAT_COLLECTION_FROM.")
# The issuer's name and address on invoices, lines separated by "\\n".
INVOICE_SELLER = env.str("INVOICE_SELLER", default="Account Gateway", multiline=True)

REDIS_URL = env("REDIS_URL", default="")
# Sign-in attempts and used codes are counted across processes in the database, which every page needs anyway.
CACHES = {"default": {"BACKEND": "gateway.core.database.cache.SharedCache", "LOCATION": "accounts_cache_entry"}}
# Imported with the first message: a server that sends none needs no Celery.
CELERY_APPLICATION = "gateway.celery"
CELERY_BROKER_URL = env("CELERY_BROKER_URL", default=REDIS_URL or "files://localhost")
# A request that starts a task never waits for an unreachable broker: the schedule does what was not sent.
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, object] = {
    "max_retries": 1,
    "interval_start": 0,
    "interval_step": 0,
    "interval_max": 0,
}
if CELERY_BROKER_URL.startswith(("redis://", "rediss://")):
    # Without them, a Redis that hangs would be waited for without end. Sending a message takes at most two such waits.
    CELERY_BROKER_TRANSPORT_OPTIONS |= {"socket_connect_timeout": 0.4, "socket_timeout": 0.4}
if CELERY_BROKER_URL == "files://localhost":
    _queue = DATA_DIR / "celery"
    CELERY_BROKER_TRANSPORT_OPTIONS |= {
        "data_folder_in": str(_queue / "messages"),
        "data_folder_out": str(_queue / "messages"),
        "control_folder": str(_queue / "control"),
    }
CELERY_TASK_IGNORE_RESULT = True
# Runs take as long as their programs, so they have separate workers and other jobs do not wait for them.
CELERY_TASK_ROUTES = {"integrations.tasks.execute_*": {"queue": "sandbox"}}
# The cgroup under which each run gets its own: a directory, "none", or empty to let the worker find it.
SANDBOX_CGROUP = env.str("SANDBOX_CGROUP", default="")
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE = beat_schedule()
JOB_TEXTS = job_texts.JOB_TEXTS

# Whether the embedded demo backend may serve; never in production.
DEMO_ADAPTER = False
# Whether token routes tell a client why they refuse it.
EXPLAIN_REFUSALS = False
# Whether events may be sent to http://127.0.0.1 as well.
EVENTS_ON_LOOPBACK = False
# Whether a small model with real weights serves the demo's embeddings and similar routes.
LOCAL_MODEL = False
