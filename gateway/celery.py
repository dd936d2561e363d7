"""The Celery application: reconciliation, clean-up and, later, seat billing."""

import os

from celery import Celery

from gateway import filequeue

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gateway.settings")

filequeue.register()
app = Celery("gateway")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
