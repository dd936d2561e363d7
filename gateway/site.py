"""The operator console's site, in place of the library's."""

from typing import Any

from django.contrib import admin
from django.contrib.admin.apps import SimpleAdminConfig
from django.contrib.admin.checks import check_admin_app, check_dependencies
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.core import checks
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import path, reverse
from django.utils.functional import SimpleLazyObject
from unfold.sites import UnfoldAdminSite

OF_REQUEST = {"available_apps", "has_permission", "log_entries", "sidebar_navigation"}
"""What a page shows by who asks for it. All else that the library gives to every page follows from the settings."""


class ConsoleSite(UnfoldAdminSite):
    """The console's pages that do not belong to a table."""

    def __init__(self, name: str = "admin") -> None:
        super().__init__(name)
        self._of_settings: dict[str, Any] = {}

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """Return what every page shows. The library's part of it is read once: it would merge the settings with its own for each of
        thirty values, on each page."""
        if not self._of_settings:
            usual = super().each_context(request)
            self._of_settings = {name: value for name, value in usual.items() if name not in OF_REQUEST}
        return {
            **self._of_settings,
            "available_apps": self.get_app_list(request),
            "has_permission": self.has_permission(request),
            "log_entries": self.get_log_entries(request),
            "sidebar_navigation": self.get_sidebar_list(request) if self.has_permission(request) else [],
        }

    def get_sidebar_list(self, request: HttpRequest) -> list[dict[str, Any]]:
        """Return the navigation. The library would copy it, and look for what its rows do not have."""
        from gateway import navigation  # this module is imported before models are loaded

        return navigation.navigation(request)

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Sign an operator in, and redirect to the console if the address names no page."""
        if not request.GET.get(REDIRECT_FIELD_NAME):
            query = request.GET.copy()
            query[REDIRECT_FIELD_NAME] = reverse("admin:index")
            request.GET = query  # type: ignore[assignment]
        return super().login(request, extra_context)

    def get_urls(self) -> list[Any]:
        """Return the addresses of the console, those of pages without a table included. One that is not here would open without
        the second factor. The library's redirect to a row's own page is left out: no row has one, and it fails for a key that cannot
        be read."""
        from gateway.config import console as configuration  # this module is imported before models are loaded
        from gateway.customers.urls import paths

        own = path("configuration/", self.admin_view(configuration.page), name="configuration")
        usual = [each for each in super().get_urls() if getattr(each, "name", None) != "view_on_site"]
        return [own, *paths(self.admin_view), *usual]

    def search(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Find a page by one thing that a support person has in hand, or by its title in the navigation."""
        from gateway import navigation  # this module is imported before models are loaded
        from gateway.finding import search

        pages = navigation.titled(request, search.written(request.GET.get("s", "")))
        hits = [search.Hit("Page", title, page) for title, page in pages]
        return search.answer(request, hits, {**self.each_context(request), **(extra_context or {})})

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


class ConsoleConfig(SimpleAdminConfig):
    """Configures Django's admin with this site, whose tables are discovered by the first page (`gateway.console_urls`)."""

    default_site = "gateway.site.ConsoleSite"

    def ready(self) -> None:
        """Register Django's start-up checks, with all tables."""
        checks.register(check_dependencies, checks.Tags.admin)
        checks.register(_check_tables, checks.Tags.admin)


def _check_tables(app_configs: Any, **options: Any) -> list[checks.CheckMessage]:
    admin.autodiscover()
    return list(check_admin_app(app_configs, **options))
