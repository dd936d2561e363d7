"""What a person's wallet was used for."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from billing.portal.pages import owner_of, show
from billing.queries import months, usage

CALLS_SHOWN = 50


@login_required
@never_cache
@require_GET
def index(request: HttpRequest) -> HttpResponse:
    """Show this month's totals and the newest calls."""
    owner, now = owner_of(request), timezone.now()
    context = {
        "now": now,
        "charged_microusd": months.charged_microusd(owner, now),
        "requests": months.calls_made(owner, now),
        "calls": usage.newest(owner, CALLS_SHOWN),
    }
    return show(request, "portal_usage", "usage", **context)
