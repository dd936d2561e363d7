"""List filters of the console."""

from typing import Any

from django.contrib.admin import SimpleListFilter
from django.db.models import QuerySet
from django.http import HttpRequest


class WordFilter(SimpleListFilter):
    """Filters by a column of known words, without querying the table for them."""

    words: tuple[str, ...] = ()

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        return [(word, word) for word in self.words]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(**{self.parameter_name or "": self.value()}) if self.value() else queryset


def parameter_of(list_filter: Any) -> str:
    """Return the query parameter of a list filter, or the prefix of its parameters."""
    if isinstance(list_filter, tuple):
        return str(list_filter[0])
    return str(list_filter if isinstance(list_filter, str) else list_filter.parameter_name)
