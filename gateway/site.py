"""The operator console as a whole, in place of the library's."""

from typing import Any

from django.contrib.admin.apps import AdminConfig
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from unfold.sites import UnfoldAdminSite


class ConsoleSite(UnfoldAdminSite):
    """The console's pages that are no table's."""

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Sign an operator in, and go to the console where the address names no page."""
        if not request.GET.get(REDIRECT_FIELD_NAME):
            asked = request.GET.copy()
            asked[REDIRECT_FIELD_NAME] = reverse("admin:index")
            request.GET = asked  # type: ignore[assignment]
        return super().login(request, extra_context)

    def search(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Find tables. All that there are fit on one page, and the library breaks at any other."""
        if request.GET.get("page", "1") != "1":
            raise Http404
        return super().search(request, extra_context)

    def autocomplete_view(self, request: HttpRequest) -> HttpResponseBase:
        """Offer rows for a relation."""
        from gateway.core.console.suggestions import Suggestions  # this module is read before there are models

        return Suggestions.as_view(admin_site=self)(request)

    def password_change(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Lead to the portal's page, which limits guesses at the old password."""
        return redirect("account_change_password")


class ConsoleConfig(AdminConfig):
    """Django's admin with this site."""

    default_site = "gateway.site.ConsoleSite"
