"""Settings of the test suite: real PostgreSQL, fast password hashing."""

from gateway.settings.development import *  # noqa: F403

SECRET_KEY = "test-secret-key-that-is-long-enough-for-hmac"  # noqa: S105
GATEWAY_BASE_URL = PORTAL_URL = "https://gateway.example"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
EXPLAIN_REFUSALS = False
CELERY_TASK_ALWAYS_EAGER = True
CELERY_TASK_EAGER_PROPAGATES = True
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
WHITENOISE_AUTOREFRESH = True  # no static files were collected

# An authenticator's code is valid for as long as a test runs, however slow the machine.
MFA_TOTP_PERIOD = 1_000_000_000

# Each process counts these by itself, and many tests share one.
PAGE_REQUESTS_PER_ADDRESS_MINUTE = PORTAL_REQUESTS_PER_ACCOUNT_MINUTE = 1_000_000_000
UNCHARGED_CALLS_PER_ACCOUNT_MINUTE = REFUSED_WEBHOOKS_PER_ADDRESS_MINUTE = 1_000_000_000
