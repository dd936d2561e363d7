"""Registers the jobs app."""

from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "gateway.core.jobs"
    label = "jobs"
    default_auto_field = "django.db.models.BigAutoField"
