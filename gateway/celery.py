"""The Celery application: reconciliation, payments' events, clean-up and, later, seat billing."""

import os

from celery import Celery

from gateway import schedule
from gateway.core import filequeue

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gateway.settings")

filequeue.register()
app = Celery("gateway")
app.set_default()  # else only the thread that imports this hands its tasks here
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.beat_schedule = schedule.beat_schedule()
app.autodiscover_tasks()
