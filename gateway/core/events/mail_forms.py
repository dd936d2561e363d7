"""Reads the form of the portal's switches for mails."""

from collections.abc import Iterable

from django.http import QueryDict

from gateway.core.events.operations.unsubscribing import Subject
from gateway.core.events.queries.mails import Group

SHOWN = "shown"
"""The field that names every switch of the page, whether or not it is on: a kind that came later is left as it is."""

ON = "mail"


def wanted(groups: Iterable[Group], form: QueryDict) -> dict[Subject, bool]:
    """Return which of a person's switches are on in a form. What it names besides is ignored."""
    shown, on = set(form.getlist(SHOWN)), set(form.getlist(ON))
    return {one.subject: one.value in on for group in groups for one in group.switches if one.value in shown}
