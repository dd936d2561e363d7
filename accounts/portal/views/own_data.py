"""The page about a person's data: download all of it."""

from allauth.account.decorators import reauthentication_required
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.operations import exports
from accounts.portal.refusals import too_many_requests
from accounts.queries.accounts import person
from gateway.core.contract.errors import RateLimited
from gateway.core.contract.limits import EXPORTS_MAX
from gateway.core.portal.zip_files import zip_response


@login_required
@never_cache
@reauthentication_required(allow_get=True)
@require_http_methods(["GET", "HEAD", "POST"])
def show(request: HttpRequest) -> HttpResponseBase:
    """Show what can be done with one's data. The form downloads all of it as a ZIP archive."""
    return _export(request) if request.method == "POST" else render(request, "portal/data.html", {"most": EXPORTS_MAX})


def _export(request: HttpRequest) -> HttpResponseBase:
    account, now = person(request), timezone.now()
    try:
        files = exports.begin(account=account, now=now)
    except RateLimited as error:
        refusal: HttpResponse = too_many_requests(request, error)
        return refusal
    return zip_response(f"account-{now:%Y-%m-%d}", files)
