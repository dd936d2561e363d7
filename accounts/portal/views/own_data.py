"""The pages about a person's data: download all of it, and close the account."""

from allauth.account.decorators import reauthentication_required
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.operations import closing, exports
from accounts.operations.closing import Obstacle
from accounts.portal.forms import CloseForm
from accounts.portal.refusals import too_many_requests
from accounts.queries.accounts import person
from gateway.core.contract.errors import RateLimited
from gateway.core.portal.zip_files import zip_response


@login_required
@never_cache
@reauthentication_required(allow_get=True)
@require_http_methods(["GET", "HEAD", "POST"])
def show(request: HttpRequest) -> HttpResponseBase:
    """Show what can be done with one's data. The form downloads all of it as a ZIP archive."""
    if request.method == "POST":
        return _export(request)
    return render(request, "portal/data.html", {"most": settings.EXPORTS_PER_ACCOUNT_HOUR})


def _export(request: HttpRequest) -> HttpResponseBase:
    account, now = person(request), timezone.now()
    try:
        files = exports.begin(account=account, now=now)
    except RateLimited as error:
        refusal: HttpResponse = too_many_requests(request, error)
        return refusal
    return zip_response(f"account-{now:%Y-%m-%d}", files)


@login_required
@never_cache
@reauthentication_required(allow_get=True)
@require_http_methods(["GET", "HEAD", "POST"])
def close(request: HttpRequest) -> HttpResponse:
    """Show what closing the account means and what prevents it. The form closes it for good and signs the person out."""
    account, now = person(request), timezone.now()
    form = CloseForm(
        request.POST if request.method == "POST" else None, credits_microusd=closing.credits_microusd(account, now)
    )
    if request.method != "POST" or not form.is_valid():
        return _close_page(request, form, closing.obstacles(account, now))
    try:
        closing.close(account=account, now=now)
    except closing.CannotClose as error:
        return _close_page(request, form, error.obstacles)
    logout(request)
    messages.success(request, "Your account was closed.")
    return redirect("account_login")


def _close_page(request: HttpRequest, form: CloseForm, obstacles: list[Obstacle]) -> HttpResponse:
    context = {"form": form, "obstacles": obstacles}
    return render(request, "portal/close.html", context, status=400 if form.is_bound else 200)
