"""The search of the console: its hits, by kind, and the page that shows them where there is not exactly one."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse

from gateway.core.console import parties
from gateway.finding import money, people, settings
from gateway.finding.finder import HITS_MAX, Hit, written

FINDERS = (*people.FINDERS, *money.FINDERS, *settings.FINDERS)

FOUND_BY = (
    ("People", "email address (also one that was invited or removed), DID, the beginning of a name, device ID"),
    ("Organizations", "ID, the beginning of a name, membership ID"),
    ("Calls", "usage ID, request ID, idempotency key: of the newest calls, or after its owner and a space"),
    ("Payments", "ID, idempotency key, the provider's session, payment, refund or event"),
    ("Invoices", "number, ID, charge, credit note"),
    ("Others", "credit, budget, wallet, event or delivery ID, client, model, upstream, product, integration"),
)
"""What is found, and by what, for whoever found nothing."""


class Result(NamedTuple):
    """A hit with its owner as text."""

    hit: Hit
    who: str


def hits(request: HttpRequest, text: str, pages: Iterable[Hit]) -> list[Hit]:
    """Return what the operator may see of what a text finds, each page once, by kind; and the pages of the console so titled."""
    found: dict[str, Hit] = {}
    for hit in (*_rows(request, text), *pages):
        found.setdefault(hit.page, hit)
    return sorted(found.values(), key=lambda hit: hit.kind)


def _rows(request: HttpRequest, text: str) -> Iterator[Hit]:
    for finder in FINDERS if text else ():
        yield from islice(finder.hits(request, text), HITS_MAX)


def answer(request: HttpRequest, pages: Iterable[Hit], context: dict[str, object]) -> HttpResponse:
    """Answer a search: by a list for the box, or by a page. A single hit is redirected to at once."""
    if request.GET.get("page", "1") != "1":
        raise Http404
    text = written(request.GET.get("s", ""))
    found = hits(request, text, pages)
    if "extended" in request.GET:
        return TemplateResponse(request, "unfold/helpers/command_results.html", _shown(text, found))
    if len(found) == 1:
        return redirect(found[0].page)
    return TemplateResponse(request, "admin/search.html", {**context, "title": "Search", **_shown(text, found)})


def _shown(text: str, found: list[Hit]) -> dict[str, object]:
    known = parties.named(hit.owner for hit in found if hit.owner)
    results = [Result(hit, _who(hit, known)) for hit in found]
    return {"search_text": text, "results": results, "found_by": FOUND_BY}


def _who(hit: Hit, known: Mapping[parties.Reference, parties.Party]) -> str:
    """Return whose a hit is; the DID or the id where the hit is the party itself, or nothing else is known."""
    if hit.owner is None:
        return ""
    name = str(known.get(hit.owner, ""))
    who = hit.owner[1] if name in ("", hit.title) else name
    return "" if who == hit.title else who
