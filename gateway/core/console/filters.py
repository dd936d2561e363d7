"""List filters of the console."""

from datetime import datetime, timedelta
from typing import Any, ClassVar

from django.contrib.admin import SimpleListFilter
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from unfold.contrib.filters.admin import DropdownFilter, TextFilter


class WordFilter(SimpleListFilter):
    """Filters by a column of known words, without querying the table for them."""

    words: tuple[str, ...] = ()

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        return [(word, word) for word in self.words]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(**{self.parameter_name or "": self.value()}) if self.value() else queryset


class ChoiceFilter(DropdownFilter):
    """Filters by a column, or as `narrowed` says, with the words in a drop-down list."""

    def words(self, request: HttpRequest) -> list[tuple[str, str]]:
        """Return the choices, each as a parameter's value and its text."""
        raise NotImplementedError

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        return self.words(request)

    def has_output(self) -> bool:
        return True

    def narrowed(self, rows: QuerySet[Any], value: str) -> QuerySet[Any]:
        """Return the rows that a value chooses."""
        return rows.filter(**{self.parameter_name or "": value})

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        return self.narrowed(queryset, value) if value else queryset


class KeyFilter(TextFilter):
    """Filters by a column's whole text, such as an id, or as `narrowed` says."""

    def narrowed(self, rows: QuerySet[Any], value: str) -> QuerySet[Any]:
        """Return the rows that a text chooses."""
        return rows.filter(**{self.parameter_name or "": value})

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = (self.value() or "").strip()
        return self.narrowed(queryset, value) if value else queryset


class PeriodFilter(SimpleListFilter):
    """Filters by the time that has passed: a week, unless something else is chosen, so that a list of millions stays quick."""

    title = "time"
    parameter_name = "time"
    spans: ClassVar[dict[str, tuple[str, timedelta]]] = {
        "hour": ("Last hour", timedelta(hours=1)),
        "day": ("Last 24 hours", timedelta(days=1)),
        "week": ("Last 7 days", timedelta(days=7)),
        "month": ("Last 30 days", timedelta(days=30)),
        "quarter": ("Last 90 days", timedelta(days=90)),
        "any": ("Any time", timedelta(0)),
    }
    usual = "week"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        return [(word, text) for word, (text, _) in self.spans.items()]

    def choices(self, changelist: Any) -> Any:
        """Yield the spans; there is no further choice of all."""
        chosen = self.chosen()
        for word, (text, _) in self.spans.items():
            link = changelist.get_query_string({self.parameter_name: word})
            yield {"selected": word == chosen, "query_string": link, "display": text}

    def chosen(self) -> str:
        """Return the word of the span, the usual one for any that is not known."""
        return str(self.value()) if self.value() in self.spans else self.usual

    def is_unbounded(self, request: HttpRequest) -> bool:
        """Return whether the list is searched by something that is found quickly at any time, unless a span is chosen."""
        return False

    def since(self, rows: QuerySet[Any], at: datetime) -> QuerySet[Any]:
        """Return the rows since a time."""
        raise NotImplementedError

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        span = self.spans[self.chosen()][1]
        if not span or (self.value() is None and self.is_unbounded(request)):
            return queryset
        return self.since(queryset, timezone.now() - span)


def parameter_of(list_filter: Any) -> str:
    """Return the query parameter of a list filter, or the prefix of its parameters."""
    if isinstance(list_filter, tuple):
        return str(list_filter[0])
    return str(list_filter if isinstance(list_filter, str) else list_filter.parameter_name)
