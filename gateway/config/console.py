"""The console's page of the configuration as a file."""

from typing import cast

from django.conf import settings
from django.contrib import admin
from django.contrib.admin.models import CHANGE, LogEntry
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone

from accounts.models import Account
from accounts.operations.operator_log import REPR_MAX_CHARACTERS
from gateway.config.export import export
from gateway.config.file import SECTIONS

TITLE = "Configuration file"
CONTENT_TYPE = "application/yaml; charset=utf-8"  # RFC 9512
LOGGED = "Downloaded the configuration"


def may_export(request: HttpRequest) -> bool:
    """Return whether an operator may view every table that the file shows."""
    tables = {table for section in SECTIONS.values() for table in section.tables}
    return all(request.user.has_perm(f"{table._meta.app_label}.view_{table._meta.model_name}") for table in tables)  # noqa: SLF001 (documented)


def page(request: HttpRequest) -> HttpResponse:
    """Show the file, or send it to be saved, which the log records. Raises PermissionDenied."""
    if not may_export(request):
        raise PermissionDenied
    if request.method == "POST":
        return _download(request)
    context = {
        **admin.site.each_context(request),
        "title": TITLE,
        "export": export(now=timezone.now()),
    }
    return TemplateResponse(request, "admin/configuration.html", context)


def _download(request: HttpRequest) -> HttpResponse:
    now = timezone.now()
    text = export(now=now).text
    LogEntry.objects.create(
        user=cast("Account", request.user),
        action_time=now,
        object_repr=settings.GATEWAY_BASE_URL[:REPR_MAX_CHARACTERS],
        action_flag=CHANGE,
        change_message=LOGGED,
    )
    headers = {
        "Content-Disposition": f'attachment; filename="gateway-{now:%Y-%m-%d}.yaml"',
        "Cache-Control": "no-store",
    }
    return HttpResponse(text, content_type=CONTENT_TYPE, headers=headers)
