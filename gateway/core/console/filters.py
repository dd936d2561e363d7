"""Filters of the console's lists."""

from typing import Any

from django.contrib.admin import SimpleListFilter
from django.db.models import QuerySet
from django.http import HttpRequest


class WordFilter(SimpleListFilter):
    """Filters by a column of known words, without asking the table which there are."""

    words: tuple[str, ...] = ()

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        """List the words."""
        return [(word, word) for word in self.words]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep the rows of the chosen word."""
        return queryset.filter(**{self.parameter_name or "": self.value()}) if self.value() else queryset


def parameter_of(list_filter: Any) -> str:
    """Name the query parameter, or the beginning of the parameters, of one of a table's filters."""
    if isinstance(list_filter, tuple):
        return str(list_filter[0])
    return str(list_filter if isinstance(list_filter, str) else list_filter.parameter_name)
