"""The console's pages of judgement: which backends the aliases select, and the fallbacks."""

from django.contrib import admin

from gateway.core.console import ConsoleAdmin, SingleRowAdmin
from judgement.models import JudgementFallback, JudgementSettings


@admin.register(JudgementSettings)
class JudgementSettingsAdmin(SingleRowAdmin):
    """The one row of settings."""

    list_display = ("__str__", "text_backend", "vision_backend")
    list_select_related = ("text_backend", "vision_backend")
    autocomplete_fields = ("text_backend", "vision_backend")


@admin.register(JudgementFallback)
class JudgementFallbackAdmin(ConsoleAdmin):
    """Where an overloaded backend's requests may go."""

    list_display = ("source", "target")
    list_display_links = ("source",)
    list_select_related = ("source", "target")
    autocomplete_fields = ("source", "target")
    ordering = ("source__name",)
