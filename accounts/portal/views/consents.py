"""Pages for a person's consents: list and withdraw."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from accounts.operations import consents as operations
from accounts.queries import consents as queries
from accounts.queries.accounts import person


@login_required
@require_GET
def consents(request: HttpRequest) -> HttpResponse:
    """List the consents in force."""
    return render(request, "portal/consents.html", {"consents": queries.active_of(person(request))})


@login_required
@require_POST
def withdraw(request: HttpRequest, consent_id: int) -> HttpResponse:
    """Withdraw one of the person's own consents at once."""
    if operations.withdraw(account=person(request), consent_id=consent_id, now=timezone.now()):
        messages.success(request, "The consent was withdrawn.")
    return redirect("portal_consents")
