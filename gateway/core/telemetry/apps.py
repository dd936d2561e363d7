"""Registers the telemetry app."""

from django.apps import AppConfig


class TelemetryConfig(AppConfig):
    name = "gateway.core.telemetry"
    label = "telemetry"
    default_auto_field = "django.db.models.BigAutoField"
