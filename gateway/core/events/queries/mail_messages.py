"""Renders mails: the subject, and the same content as text and as HTML."""

import json
import re
from email.utils import parseaddr
from typing import Any

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string

from gateway.core.events.mail_links import portal_url
from gateway.core.events.models import Mail
from gateway.core.events.operations import unsubscribing
from gateway.core.events.rules.mail_names import SUBJECT_MAX_CHARACTERS, one_line, shortened, shown_name

DEFAULT_SERVICE = "Account Gateway"
NAME = "_name"
"""The suffix of what a context holds of names that somebody chose."""

_BLANK_LINES = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)+")


def message_of(mail: Mail) -> EmailMultiAlternatives:
    """Return a mail as it is sent. Its `Message-ID` is the same each time, so that a mail that is sent twice shows once where
    mail programs recognize that.
    """
    context = {**_context(json.loads(mail.context)), **_frame(mail)}
    message = EmailMultiAlternatives(mail.subject, _text(mail.template, context), to=[mail.to], headers=_headers(mail))
    message.attach_alternative(_html(mail.template, context), "text/html")
    return message


def subject_of(template: str, context: dict[str, Any]) -> str:
    """Return the subject of a mail: one line."""
    rendered = render_to_string(
        _file(template), {**_context(context), "layout": "mail/subject.txt", "service_name": service()}
    )
    return shortened(one_line(rendered), SUBJECT_MAX_CHARACTERS)


def service() -> str:
    """Return the service's own name: the one that `DEFAULT_FROM_EMAIL` sends mail under."""
    return one_line(parseaddr(settings.DEFAULT_FROM_EMAIL)[0]) or DEFAULT_SERVICE


def _frame(mail: Mail) -> dict[str, Any]:
    return {
        "subject": mail.subject,
        "service_name": service(),
        "to": mail.to,
        "person_name": shown_name(mail.name),
        "is_account": mail.recipient.startswith("did:"),
        "unsubscribe_url": portal_url(unsubscribing.path_of(mail)) if mail.can_unsubscribe else "",
    }


def _context(values: dict[str, Any]) -> dict[str, Any]:
    """Return a stored context with its texts on one line, and its names as mails show them."""
    return {
        key: (shown_name(value) if key.endswith(NAME) else one_line(value)) if isinstance(value, str) else value
        for key, value in values.items()
    }


def _text(template: str, context: dict[str, Any]) -> str:
    rendered = render_to_string(_file(template), {**context, "layout": "mail/layout.txt"})
    return _BLANK_LINES.sub("\n\n", rendered).strip() + "\n"


def _html(template: str, context: dict[str, Any]) -> str:
    return render_to_string(_file(template), {**context, "layout": "mail/layout.html"})


def _file(template: str) -> str:
    return f"mail/{template}.html"


def _headers(mail: Mail) -> dict[str, str]:
    """Return the headers of an automatic mail (RFC 3834), and of one that can be turned off in one step (RFC 8058), which only
    https allows.
    """
    headers = {"Message-ID": _message_id(mail), "Auto-Submitted": "auto-generated"}
    if not mail.can_unsubscribe:
        return headers
    url = portal_url(unsubscribing.path_of(mail))
    one_step = {"List-Unsubscribe-Post": "List-Unsubscribe=One-Click"} if url.startswith("https:") else {}
    return {**headers, "List-Unsubscribe": f"<{url}>", **one_step}


def _message_id(mail: Mail) -> str:
    domain = parseaddr(settings.DEFAULT_FROM_EMAIL)[1].rpartition("@")[2] or "localhost"
    return f"<{mail.event.public_id}.{mail.pk}@{domain}>"
