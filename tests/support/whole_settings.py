"""The settings of `make run`, with fast password hashing, and with soon what a test would wait for."""

import os

from gateway.settings import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
SOON_SECONDS = 2.0
ARE_JOBS_SOON = os.environ.get("ARE_JOBS_SOON", "true") == "true"
SOON = (
    "billing.tasks.collect_invoices",
    "billing.tasks.reconcile_payments",
    "organizations.tasks.follow_debts",
)
CELERY_BEAT_SCHEDULE |= {  # noqa: F405
    name: {**CELERY_BEAT_SCHEDULE[name], "schedule": SOON_SECONDS}  # noqa: F405
    for name in SOON
    if ARE_JOBS_SOON
}
