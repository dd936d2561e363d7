"""The parts of a mail. Each is written once, and rendered as text or as HTML, as the layout that a mail extends wants it."""

import textwrap
from typing import Any

from django import template
from django.template.base import NodeList, Parser, Token
from django.template.context import Context
from django.template.loader import render_to_string
from django.utils.safestring import mark_safe

from gateway.core.events.mail_links import portal_url

register = template.Library()

WIDTH = 76


class Line(template.Node):
    """A paragraph."""

    def __init__(self, nodes: NodeList) -> None:
        self.nodes = nodes

    def render(self, context: Context) -> str:
        """Render what is inside with single spaces; as text, in lines of at most WIDTH characters."""
        inner = " ".join(self.nodes.render(context).split(" "))
        words = " ".join(inner.split())
        if _is_text(context):
            words = textwrap.fill(words, WIDTH, break_long_words=False, break_on_hyphens=False)
        return _part(context, "line", text=mark_safe(words))  # noqa: S308 - the nodes have escaped their values


@register.tag
def line(parser: Parser, token: Token) -> Line:
    """Read a paragraph up to `endline`."""
    nodes = parser.parse(("endline",))
    parser.delete_first_token()
    return Line(nodes)


@register.simple_tag(takes_context=True)
def fact(context: Context, label: str, value: object) -> str:
    """Render a label and its value; nothing where there is no value."""
    return _part(context, "fact", label=label, value=value) if value not in (None, "") else ""


@register.simple_tag(takes_context=True)
def button(context: Context, label: str, path: str) -> str:
    """Render a link to a page of the portal. Raises ValueError for an address elsewhere."""
    return _part(context, "button", label=label, url=portal_url(path))


def _is_text(context: Context) -> bool:
    return not context.autoescape


def _part(context: Context, name: str, **values: Any) -> str:
    """Render a part in the mail's form. It is safe: as HTML it has been escaped, and text needs no escaping."""
    if _is_text(context):
        plain = {key: mark_safe(str(value)) for key, value in values.items()}  # noqa: S308 - text
        end = "" if name == "fact" else "\n"  # facts follow each other without blank lines
        return render_to_string(f"mail/parts/{name}.txt", plain).rstrip() + end
    return render_to_string(f"mail/parts/{name}.html", values)
