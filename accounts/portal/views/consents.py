"""Withdraws a person's consents. The portal lists them with the person's apps."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from accounts.operations import consents as operations
from accounts.queries.accounts import person


@login_required
@require_POST
def withdraw(request: HttpRequest, consent_id: int) -> HttpResponse:
    """Withdraw one of the person's own consents at once."""
    if operations.withdraw(account=person(request), consent_id=consent_id, now=timezone.now()):
        messages.success(request, "The consent was withdrawn.")
    return redirect("portal_apps")
