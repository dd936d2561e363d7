"""The operator console's site, in place of the library's."""

from typing import Any

from django.contrib.admin.apps import AdminConfig
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from unfold.sites import UnfoldAdminSite


class ConsoleSite(UnfoldAdminSite):
    """The console's pages that do not belong to a table."""

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Sign an operator in, and redirect to the console if the address names no page."""
        if not request.GET.get(REDIRECT_FIELD_NAME):
            query = request.GET.copy()
            query[REDIRECT_FIELD_NAME] = reverse("admin:index")
            request.GET = query  # type: ignore[assignment]
        return super().login(request, extra_context)

    def search(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Search tables. All of them fit on one page; the library fails for any other page."""
        if request.GET.get("page", "1") != "1":
            raise Http404
        return super().search(request, extra_context)

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> Any:
        """Return the tables that the operator may see, by app. Every page asks for them, and few show them."""
        return SimpleLazyObject(lambda: super(ConsoleSite, self).get_app_list(request, app_label))

    def autocomplete_view(self, request: HttpRequest) -> HttpResponseBase:
        """Suggest rows for a relation."""
        from gateway.core.console.suggestions import Suggestions  # this module is imported before models are loaded

        return Suggestions.as_view(admin_site=self)(request)

    def password_change(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Redirect to the portal's page, which limits guesses of the old password."""
        return redirect("account_change_password")


class ConsoleConfig(AdminConfig):
    """Configures Django's admin with this site."""

    default_site = "gateway.site.ConsoleSite"
