"""Pages for a person's devices: list and sign out."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from accounts.operations import devices as operations
from accounts.queries import devices as queries
from accounts.queries.accounts import person
from gateway.core.contract.limits import DEVICE_SESSIONS_MAX


@login_required
@require_GET
def devices(request: HttpRequest) -> HttpResponse:
    """List the signed-in devices."""
    live = queries.live_of(person(request), timezone.now())
    return render(request, "portal/devices.html", {"devices": live, "devices_max": DEVICE_SESSIONS_MAX})


@login_required
@require_POST
def revoke(request: HttpRequest, session_id: str) -> HttpResponse:
    """End one of the person's own device sessions at once."""
    if operations.revoke(account=person(request), session_id=session_id, now=timezone.now()):
        messages.success(request, "The device was signed out.")
    return redirect("portal_devices")
