"""The page for developers: how a person calls the gateway, and the keys of what is signed in."""

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.operations import model_names
from accounts.queries import app_names, devices
from accounts.queries.accounts import person
from accounts.rules.public_scopes import BROWSER_CAPABILITIES, description_of
from gateway.core.contract.capabilities import infer

FIRST_MODEL = "fast"
"""The model of the samples, as everywhere in the documentation, if it can be called."""


@login_required
@never_cache
@require_safe
def show(request: HttpRequest) -> HttpResponse:
    """Show a first request to copy, the scopes, and the keys of the person's device sessions."""
    sessions = list(devices.live_of(person(request), timezone.now()))
    names = app_names.of({session.client_id for session in sessions})
    models = sorted(model_names.registered().callable_now())
    model = FIRST_MODEL if FIRST_MODEL in models else next(iter(models), FIRST_MODEL)
    context = {
        "base_url": settings.GATEWAY_BASE_URL,
        "model": model,
        "model_scope": infer(model),
        "models": models,
        "scopes": [(scope.value, description_of(scope)) for scope in BROWSER_CAPABILITIES],
        "sessions": [(session, names[session.client_id]) for session in sessions],
    }
    return render(request, "portal/developers.html", context)
