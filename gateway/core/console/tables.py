"""The base class of the console's tables."""

from functools import reduce
from operator import or_
from typing import Any

from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.utils import quote, unquote
from django.core.exceptions import BadRequest, PermissionDenied, ValidationError
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.text import capfirst
from unfold.admin import ModelAdmin
from unfold.paginator import InfinitePaginator
from unfold.views import ChangeList

from gateway.core.console import parties
from gateway.core.console.fields import SecretField
from gateway.core.console.filters import parameter_of
from gateway.core.console.openers import opened_by_customer
from gateway.core.console.party_columns import PartyColumn, look_up
from gateway.core.console.reasons import ListReasonForm, reason_of


class Rows(ChangeList):
    """The rows of a list, with their related objects loaded at once."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        # Of an infinite list neither is a number of rows, and a list that nothing narrows has no more: no page compares them.
        if isinstance(self.paginator, InfinitePaginator) or not (self.query or self.has_active_filters):
            self.full_result_count = self.result_count
        rows = list(self.result_list)  # type: ignore[has-type]
        self.model_admin.complete(rows)
        self.result_list = rows


class ConsoleAdmin(ModelAdmin):
    """A table of the console. No page counts or loads more rows than it shows."""

    list_per_page = 50
    list_max_show_all = 200
    show_full_result_count = False
    list_fullwidth = True
    warn_unsaved_form = True
    actions_selection_counter = True
    party_fields: tuple[str, ...] = ()
    """The columns with the key of a person or organization; the list is searched by their name, email or key."""
    empty_text: str = ""
    """What leads to the table's first row, for whoever sees the list empty; only where rows are not added here."""
    permanent_fields: tuple[str, ...] = ()
    """The fields by which other records or configuration files refer to a row: only a new one can be given them."""

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return Rows

    def complete(self, rows: list[Any]) -> None:
        """Load what the list's columns need beside the rows: the people and organizations that they refer to."""
        columns = (getattr(self, str(name), None) for name in self.list_display)
        look_up(rows, [column for column in columns if isinstance(column, PartyColumn)])

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Show the list under its title in the navigation."""
        title = capfirst(str(self.opts.verbose_name_plural))
        return super().changelist_view(request, {"title": title, **(extra_context or {})})

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Find rows by the table's own fields, and by the people and organizations that they refer to."""
        found, may_repeat = super().get_search_results(request, queryset, search_term)
        keys = parties.found(search_term) if self.party_fields and search_term.strip() else []
        if not keys:
            return found, may_repeat
        named = reduce(or_, (Q(**{f"{field}__in": keys}) for field in self.party_fields))
        return found | queryset.filter(named), may_repeat

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        """Find a row by its unquoted id: lists link to a quoted one ("use_5F…"), and actions would look that up.

        Django unquotes it once more, so an id that this would change ("wal_23…") stays quoted.
        """
        row_id = None if object_id is None else unquote(object_id)
        if row_id is not None and unquote(row_id) != row_id:
            row_id = quote(row_id)
        return super().changeform_view(request, row_id, form_url, extra_context)

    def history_view(self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None) -> Any:
        """Show a row's history. An operator without rights to the table does not learn whether the row exists."""
        if not self.has_view_or_change_permission(request):
            raise PermissionDenied
        return super().history_view(request, object_id, extra_context)

    def leave_dialog(self, request: HttpRequest, object_id: str | None, words: str, level: int) -> HttpResponse:
        """Show the result of a dialog on the customer's page that opened it, on its row's page, or on the list if it has none."""
        self.message_user(request, words, level)
        if customers_page := opened_by_customer(request):
            return HttpResponse(headers={"HX-Redirect": customers_page})
        page, arguments = ("change", [object_id]) if object_id else ("changelist", [])
        address = reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_{page}", args=arguments)
        return HttpResponse(headers={"HX-Redirect": address})

    def finish_dialog(self, request: HttpRequest, form: Any, object_id: str, done: str) -> HttpResponse:
        """Log the action with the reason given in the form, and show it."""
        self.log_change(request, self.get_queryset(request).get(pk=object_id), f"{done}: {form.cleaned_data['reason']}")
        return self.leave_dialog(request, object_id, f"{done}.", messages.SUCCESS)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return (*super().get_readonly_fields(request, obj), *(self.permanent_fields if obj else ()))

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """Omit write-only fields: the page would show all fields as text to operators who may not change the row."""
        fieldsets = super().get_fieldsets(request, obj)
        if obj is None or self.has_change_permission(request, obj):
            return fieldsets
        fields = getattr(self.form, "base_fields", {})
        typed = {name for name, each in fields.items() if isinstance(each, SecretField) or not hasattr(obj, name)}
        return [
            (title, {**options, "fields": [name for name in options["fields"] if name not in typed]})
            for title, options in fieldsets
        ]

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Allow only the queries of the table's filters.

        The library allows queries of every column, so that one that no page shows, such as a session's key, could be
        read letter by letter: `?session_key__startswith=a`.
        """
        names = [parameter_of(each) for each in self.get_list_filter(request)]
        is_filter = any(lookup == name or lookup.startswith(f"{name}__") for name in names)
        return is_filter and bool(super().lookup_allowed(lookup, value, request))

    def response_action(self, request: HttpRequest, queryset: QuerySet[Any]) -> Any:
        """Refuse rows with ids that are invalid for this table; the library's own look-up would raise an exception."""
        try:
            [self.opts.pk.to_python(key) for key in request.POST.getlist(ACTION_CHECKBOX_NAME)]
        except ValidationError:
            raise BadRequest("A selected row does not belong to this table.") from None
        if issubclass(self.action_form, ListReasonForm):
            try:
                reason_of(request)
            except ValidationError as error:
                self.message_user(request, f"Nothing has changed. Reason: {error.messages[0]}", messages.ERROR)
                return HttpResponseRedirect(request.get_full_path())
        return super().response_action(request, queryset)
