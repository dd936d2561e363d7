"""Registers the judgement app."""

from django.apps import AppConfig


class JudgementConfig(AppConfig):
    name = "judgement"
    default_auto_field = "django.db.models.BigAutoField"
