"""Console pages for judgement: settings, fallbacks, and the distribution of answers."""

from datetime import timedelta
from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import SEARCH_VAR
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone

from gateway.core.console import ConsoleAdmin, ReadOnlyAdmin, SingleRowAdmin
from judgement.models import AnswerCount, JudgementFallback, JudgementSettings
from judgement.queries import distributions
from judgement.rules.shifts import by_alias_and_kind

PERIODS_DAYS = (1, 7, 30, 90)
USUAL_DAYS = 30


@admin.register(JudgementSettings)
class JudgementSettingsAdmin(SingleRowAdmin):
    """The judgement settings, a single row."""

    list_display = ("__str__", "text_backend", "vision_backend")
    list_select_related = ("text_backend", "vision_backend")
    autocomplete_fields = ("text_backend", "vision_backend")


@admin.register(JudgementFallback)
class JudgementFallbackAdmin(ConsoleAdmin):
    """Fallbacks for overloaded backends."""

    list_display = ("source", "target")
    list_display_links = ("source",)
    list_select_related = ("source", "target")
    autocomplete_fields = ("source", "target")
    ordering = ("source__name",)


@admin.register(AnswerCount)
class AnswerCountAdmin(ReadOnlyAdmin):
    """Distribution of the recent answers of each backend and version, as a page of plots."""

    empty_text = "The first judgement is counted here."
    ordering = ("-id",)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        if set(request.GET) - {"days", SEARCH_VAR}:  # the list has no search, so the console's `q` is ignored
            raise SuspiciousOperation("The page has no other filter.")
        days = _days(request.GET.get("days"))
        since = timezone.now().date() - timedelta(days=days - 1)
        context = {
            **self.admin_site.each_context(request),
            "title": "Judgement answers",
            "opts": self.opts,
            "groups": by_alias_and_kind(distributions.recent(since)),
            "days": days,
            "periods": PERIODS_DAYS,
        }
        return TemplateResponse(request, "admin/judgement/distributions.html", context)


def _days(sent: str | None) -> int:
    """Return the requested period, or the default if the page does not offer it."""
    return next((days for days in PERIODS_DAYS if str(days) == sent), USUAL_DAYS)
