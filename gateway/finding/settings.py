"""Finds what operators have configured, and what was sent to products."""

import re
from collections.abc import Callable, Iterator

from django.db.models import Model, Q, QuerySet
from django.urls import reverse

from accounts.models import Integration, Product, PublicClient
from gateway.core.events.models import Delivery, Mail
from gateway.finding.finder import HITS_MAX, Finder, Hit
from inference.models import Alias, Upstream

WORD = re.compile(r"[!-~]+")


def _by(model: type[Model], column: str) -> Callable[[str], Iterator[Hit]]:
    """Build a look-up by a unique column."""

    def find(text: str) -> Iterator[Hit]:
        opts = model._meta  # noqa: SLF001 (documented)
        for row in model._default_manager.filter(**{column: text}):  # noqa: SLF001 (documented)
            page = reverse(f"admin:{opts.app_label}_{opts.model_name}_change", args=[row.pk])
            yield Hit(str(opts.verbose_name).capitalize(), str(row), page)

    return find


def deliveries(text: str) -> Iterator[Hit]:
    """Find the deliveries of an event, or one by its number."""
    is_number = text.isascii() and text.isdigit() and len(text) <= 18
    wanted = Q(pk=int(text)) if is_number else Q(event__public_id=text)
    found: QuerySet[Delivery] = Delivery.objects.filter(wanted).select_related("event", "endpoint")
    for one in found.order_by("pk")[:HITS_MAX]:
        page = reverse("admin:events_delivery_change", args=[one.pk])
        owner = one.event.owner_kind, one.event.owner_key
        yield Hit("Delivery", f"{one.event.type} to {one.endpoint}", page, owner, one.created_at, one.status)


def mails(text: str) -> Iterator[Hit]:
    """Find the mails of an event."""
    for one in Mail.objects.filter(event__public_id=text).order_by("pk")[:HITS_MAX]:
        page = reverse("admin:events_mail_change", args=[one.pk])
        yield Hit("Mail", one.subject, page, (one.owner_kind, one.owner_key), one.created_at, one.status)


FINDERS = (
    Finder((PublicClient,), WORD, _by(PublicClient, "client_id")),
    Finder((Alias,), WORD, _by(Alias, "name")),
    Finder((Product,), WORD, _by(Product, "slug")),
    Finder((Integration,), WORD, _by(Integration, "issuer")),
    Finder((Upstream,), WORD, _by(Upstream, "name")),
    Finder((Delivery,), re.compile(r"evt_\w+|[0-9]+", re.ASCII), deliveries),
    Finder((Mail,), re.compile(r"evt_\w+"), mails),
)
