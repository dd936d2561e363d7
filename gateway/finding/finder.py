"""What the search finds, and how: a finder for each kind of rows, and the hits of all of them."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

from gateway.core.console import parties

TEXT_MAX_CHARACTERS = 200
HITS_MAX = 20
"""The most hits of one kind that are listed."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A row that was found: its kind, what it is called, whose it is, when it began, and the address of its page."""

    kind: str
    title: str
    page: str
    owner: parties.Reference | None = None
    at: datetime | None = None
    about: str = ""


@dataclass(frozen=True, slots=True)
class Finder:
    """Finds rows of a kind by what `pattern` matches whole. It is used only for operators who may view all of `models`."""

    models: tuple[type[Model], ...]
    pattern: re.Pattern[str]
    find: Callable[[str], Iterable[Hit]]

    def hits(self, request: HttpRequest, text: str) -> Iterator[Hit]:
        """Yield what this finder finds, if the text is of its kind and the operator may see it."""
        if self.pattern.fullmatch(text) and may_view(request, *self.models):
            yield from self.find(text)


def may_view(request: HttpRequest, *models: type[Model]) -> bool:
    """Return whether an operator may view these tables in the console."""
    return all(_may_view(request, model) for model in models)


def _may_view(request: HttpRequest, model: type[Model]) -> bool:
    if admin.site.is_registered(model):
        return admin.site.get_model_admin(model).has_view_permission(request)
    opts = model._meta  # noqa: SLF001 (documented)
    return request.user.has_perm(f"{opts.app_label}.view_{opts.model_name}")


def written(text: str) -> str:
    """Return what an operator typed or pasted without what surrounds it; empty if nothing can be found by it."""
    stripped = " ".join(text.split())
    return "" if "\0" in stripped or len(stripped) > TEXT_MAX_CHARACTERS else stripped
