"""The authorization endpoint: validates the request, has the person sign in, asks for consent and redirects. RFC 6749
section 4.1.
"""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from accounts.models import AuthorizationRequest
from accounts.operations import app_budgets, limits, public_clients
from accounts.operations import authorize as operations
from accounts.operations.authorize import Refused, RequestGone
from accounts.portal.forms import ConsentForm
from accounts.portal.refusals import too_many_requests
from accounts.portal.session import browser_secret, remember_target
from accounts.queries.accounts import person
from accounts.rules.public_clients import BUILT_IN_NAMES, ClientError
from accounts.rules.public_scopes import description_of
from gateway.core.contract.amounts import usd
from gateway.core.contract.errors import InvalidRequest, RateLimited
from gateway.core.contract.route_limits import AUTHORIZATIONS, CODES
from gateway.core.http.addresses import client_network
from gateway.core.http.rate_limits import note

COSMETIC = ("product", "theme")


@require_GET
@never_cache
def begin(request: HttpRequest) -> HttpResponse:
    """Store a valid request and redirect to its page. An invalid one ends on an error page or is returned to the
    client.
    """
    try:
        _limit(request)
        parameters = _parameters(request)
        saved = operations.begin(parameters, browser_secret=browser_secret(request), now=timezone.now())
    except (ClientError, UnicodeDecodeError) as error:
        return _error_page(request, error)
    except Refused as refused:
        return _redirect_or_confirm(request, refused)
    except RateLimited as error:
        return too_many_requests(request, error)
    remember_target(request, saved)
    return redirect("portal_consent", saved.pk)


@login_required
@never_cache
@require_http_methods(["GET", "POST"])
def consent(request: HttpRequest, request_id: str) -> HttpResponse:
    """Show the consent page, or process its answer. Of two simultaneous clicks, one counts."""
    secret, now = browser_secret(request), timezone.now()
    try:
        if request.method == "POST":
            return _answer(request, request_id, secret)
        pending = operations.pending(request_id, browser_secret=secret, now=now)
        if operations.needs_consent(pending):
            form = ConsentForm(initial={"budget_usd": _monthly_budget(request, pending.client_id)})
            return _page(request, pending, form, pending.scopes)
        return _redirect(_allow(request, request_id, secret, pending.scopes))
    except ClientError as error:
        return _error_page(request, error)
    except RateLimited as error:
        return too_many_requests(request, error)
    except RequestGone:
        return render(request, "portal/authorize_gone.html", status=400)


def _answer(request: HttpRequest, request_id: str, secret: str) -> HttpResponse:
    """Allow or deny. A budget that is none is reported beside its field, and the request stays open."""
    if request.POST.get("answer") != "allow":
        return _redirect(operations.deny(request_id, browser_secret=secret, now=timezone.now()))
    form, scopes = ConsentForm(request.POST), request.POST.getlist("scope")
    if form.is_valid():
        try:
            return _redirect(_allow(request, request_id, secret, scopes, form.cleaned_data["budget_usd"]))
        except InvalidRequest as error:
            form.add_error("budget_usd", error.message)
    pending = operations.pending(request_id, browser_secret=secret, now=timezone.now())
    return _page(request, pending, form, scopes)


def _allow(
    request: HttpRequest, request_id: str, secret: str, scopes: list[str], budget_microusd: int | None = None
) -> str:
    """Count the code, because it is kept for a month, and issue it. Raises RateLimited, and the request stays open."""
    account = person(request)
    note(request, limits.take(CODES, account.did, now=timezone.now()))
    return operations.allow(
        request_id,
        browser_secret=secret,
        account=account,
        scopes=scopes,
        monthly_budget_microusd=budget_microusd,
        now=timezone.now(),
    )


def _page(request: HttpRequest, pending: AuthorizationRequest, form: ConsentForm, ticked: list[str]) -> HttpResponse:
    client, name = pending.client_id, public_clients.registered_name(pending.client_id)
    is_built_in = client in BUILT_IN_NAMES
    context = {
        "pending": pending,
        "client": name if is_built_in else client.partition("://")[2] or client,
        "is_built_in": is_built_in,
        "name": name,
        "scopes": [
            {"name": scope, "description": description_of(scope), "is_ticked": scope in ticked}
            for scope in pending.scopes
        ],
        "budgets": app_budgets.registered().enabled(person(request).did, client, timezone.now()),
        "form": form,
    }
    return render(request, "portal/consent.html", context, status=400 if form.is_bound else 200)


def _monthly_budget(request: HttpRequest, client_id: str) -> str | None:
    """Return the person's monthly budget for an app in dollars, or None."""
    found = app_budgets.registered().enabled(person(request).did, client_id, timezone.now())
    monthly = next((budget.limit_microusd for budget in found if budget.period == "month"), None)
    return None if monthly is None else usd(monthly).removeprefix("$").replace(",", "")


def _limit(request: HttpRequest) -> None:
    """Count the request, because it creates a row, or raise RateLimited."""
    if network := client_network(request):
        note(request, limits.take(AUTHORIZATIONS, network, now=timezone.now()))


def _parameters(request: HttpRequest) -> dict[str, list[str]]:
    """Parse the query strictly as UTF-8, with repeated parameters and without the cosmetic ones."""
    query = QueryDict(request.META.get("QUERY_STRING", "").encode("latin-1"), encoding="utf-8")
    return {name: values for name, values in query.lists() if name not in COSMETIC}


def _error_page(request: HttpRequest, error: ValueError) -> HttpResponse:
    return render(request, "portal/authorize_error.html", {"reason": str(error)}, status=400)


def _redirect_or_confirm(request: HttpRequest, refused: Refused) -> HttpResponse:
    """Return the error to a client that the operator or this person knows. Otherwise show where it would go."""
    account = person(request) if request.user.is_authenticated else None
    if operations.may_redirect_error(refused.client_id, account):
        return _redirect(refused.location)
    return render(request, "portal/authorize_refused.html", {"refused": refused}, status=400)


def _redirect(location: str) -> HttpResponse:
    """Redirect to a validated location of any scheme; registered apps may have their own."""
    response = HttpResponse(status=303)
    response["Location"] = location
    return response
