"""The addresses of customers' pages and their dialogs, below the console."""

from collections.abc import Callable, Iterator
from typing import Any

from django.urls import URLPattern, path

from gateway.customers import dialogs, page
from gateway.customers.customer import MODELS


def paths(protect: Callable[..., Any]) -> Iterator[URLPattern]:
    """Return every address; `protect` lets only operators in."""
    for kind in map(str, MODELS):
        root = f"customers/{kind}/<object_id>/"
        yield path(root, protect(page.view), {"kind": kind}, name=f"customers_{kind}")
        for each in dialogs.DIALOGS:
            found = {"kind": kind, "name": each.name}
            yield path(f"{root}{each.name}/", protect(dialogs.view), found, name=f"customers_{kind}_{each.name}")
