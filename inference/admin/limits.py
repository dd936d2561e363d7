"""Console pages of rate limits: what is in force, and what is used of it now."""

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.decorators import display

from billing.models import Limit
from billing.queries import limits
from billing.queries.limits import Used
from billing.rules.limits import LimitScope
from gateway.core.console import ConsoleAdmin
from inference.queries import limit_subjects

NUMBERS = ("requests_per_minute", "tokens_per_minute", "concurrent")


class LimitForm(forms.ModelForm):
    """Validates a limit as the configuration file does."""

    class Meta:
        model = Limit
        fields = ("scope", "subject", *NUMBERS)
        widgets = {"subject": forms.TextInput}

    def clean(self) -> dict[str, Any]:
        """Refuse a subject that the scope does not have."""
        cleaned = super().clean() or {}
        scope, subject = cleaned.get("scope"), cleaned.get("subject") or None
        cleaned["subject"] = subject
        if scope and (fault := limit_subjects.fault_of(LimitScope(scope), subject)):
            self.add_error("subject", ValidationError(f"{fault[0].upper()}{fault[1:]}."))
        return cleaned


@admin.register(Limit)
class LimitAdmin(ConsoleAdmin):
    """Limits of metered calls. Every process sees a change within 15 seconds."""

    form = LimitForm
    list_display = ("__str__", *NUMBERS, "used")
    list_filter = ("scope",)
    search_fields = ("subject",)
    ordering = ("scope", "subject")
    permanent_fields = ("scope", "subject")
    readonly_fields = ("used_now",)

    def complete(self, rows: list[Limit]) -> None:
        """Read what is used of the limits that name their subject."""
        super().complete(rows)
        found = limits.used_by_subjects(rows, now=timezone.now())
        for row in rows:
            row.used_now = found.get(row.pk)  # type: ignore[attr-defined]

    def get_fields(self, request: Any, obj: Limit | None = None) -> tuple[str, ...]:
        return ("scope", "subject", *NUMBERS, *(("used_now",) if obj else ()))

    @display(description="Used now")
    def used(self, limit: Limit) -> str | None:
        """Return what its subject has used; nothing for a general limit, whose page has its busiest subjects."""
        used: Used | None = getattr(limit, "used_now", None)
        return _words(used) if used else None

    @display(description="Used now")
    def used_now(self, limit: Limit) -> SafeString | str:
        """List what its subject has used, or the subjects with the most calls under way."""
        now = timezone.now()
        if limit.subject:
            return _words(limits.used_by_subjects([limit], now=now)[limit.pk])
        rows = format_html_join("", "<li>{}: {}</li>", ((used.subject, _words(used)) for used in _busiest(limit)))
        return format_html("<ul>{}</ul>", rows) if rows else "No call is under way."


def _busiest(limit: Limit) -> list[Used]:
    return limits.used_by_busiest(limit, now=timezone.now())


def _words(used: Used) -> str:
    counts = (("requests", used.requests), ("tokens", used.tokens), ("under way", used.concurrent))
    return ", ".join(f"{count:,} {noun}" for noun, count in counts if count is not None) or "no limit"
