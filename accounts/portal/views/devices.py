"""Ends a person's device sessions. The portal lists them with the person's apps."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from accounts.operations import devices as operations
from accounts.queries.accounts import person


@login_required
@require_POST
def revoke(request: HttpRequest, session_id: str) -> HttpResponse:
    """End one of the person's own device sessions at once."""
    if operations.revoke(account=person(request), session_id=session_id, now=timezone.now()):
        messages.success(request, "The device was signed out.")
    return redirect("portal_apps")
