"""Renders invoices as PDF with reportlab."""

from collections.abc import Mapping, Sequence
from io import BytesIO

from django.conf import settings
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.platypus import Flowable, Paragraph, SimpleDocTemplate, Spacer, Table

from billing.models import Invoice
from billing.rules import invoice_labels
from billing.rules.invoice_amounts import in_cents
from billing.rules.invoices import CHARGE_MIN_MICROUSD
from gateway.core.contract.amounts import usd
from organizations.models import Organization
from organizations.portal.invoice_fonts import BOLD, FONT, markup, register

SIZE, LEADING, TITLE_SIZE = 9, 13, 16
MARGIN = 20 * mm
COLUMNS = (74 * mm, 34 * mm, 26 * mm, 36 * mm)


def render(invoice: Invoice, organization: Organization, names: Mapping[str, str]) -> bytes:
    """Return an invoice as PDF. `names` maps products to names. The same invoice gives the same bytes."""
    register()
    file = BytesIO()
    title = f"Invoice {invoice.number}" if invoice.number else f"Draft for {invoice.period_start:%B %Y}"
    document = SimpleDocTemplate(
        file,
        pagesize=A4,
        leftMargin=MARGIN,
        rightMargin=MARGIN,
        topMargin=MARGIN,
        bottomMargin=MARGIN,
        title=title,
        author=_seller()[0],
        invariant=1,
        pageCompression=0,
    )
    document.build([*_head(title, invoice, organization), _lines(invoice, names), Spacer(0, 6 * mm), *_foot(invoice)])
    return file.getvalue()


def _head(title: str, invoice: Invoice, organization: Organization) -> list[Flowable]:
    facts = [
        ("From", "\n".join(_seller())),
        ("For", f"{organization.name}\n{organization.pk}"),
        ("Month", f"{invoice.period_start:%B %Y} (UTC)"),
        ("Issued", f"{invoice.issued_at:%d %B %Y}" if invoice.issued_at else "Not issued"),
        ("Status", invoice_labels.state(invoice.status).word),
    ]
    if invoice.paid_at:
        facts.append(("Paid", f"{invoice.paid_at:%d %B %Y}"))
    rows = [[_text(name), _text(value)] for name, value in facts]
    return [
        _text(title, font=BOLD, size=TITLE_SIZE),
        Spacer(0, 8 * mm),
        Table(rows, colWidths=(30 * mm, 140 * mm), hAlign="LEFT", style=[("VALIGN", (0, 0), (-1, -1), "TOP")]),
        Spacer(0, 8 * mm),
    ]


def _lines(invoice: Invoice, names: Mapping[str, str]) -> Table:
    lines = list(invoice.lines.all())
    amounts = in_cents([line.amount_microusd for line in lines], invoice.total_microusd)
    rows = [_row(("Product", "Price per month", "Seat-days", "Amount in USD"), font=BOLD)]
    for line, cents in zip(lines, amounts.lines, strict=True):
        name, price = names.get(line.product, line.product), usd(line.price_microusd)
        rows.append(_row((name, price, f"{line.seat_days:,}", usd(cents))))
    if amounts.rounding:
        rows.append(_row(("Rounding", "", "", usd(amounts.rounding))))
    rows.append(_row(("Total", "", "", usd(amounts.total)), font=BOLD))
    rules = [
        ("LINEBELOW", (0, 0), (-1, 0), 0.5, colors.grey),
        ("LINEABOVE", (0, -1), (-1, -1), 0.5, colors.grey),
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
    ]
    return Table(rows, colWidths=COLUMNS, repeatRows=1, hAlign="LEFT", style=rules)


def _foot(invoice: Invoice) -> list[Flowable]:
    """Return paragraphs about the charge, credit notes and the counting of seats."""
    words = []
    if invoice.number and invoice.total_microusd and not invoice.due_microusd:
        words.append(f"Totals below {usd(CHARGE_MIN_MICROUSD)} are not charged.")
    if invoice.void_reason:
        words.append("This invoice is void. Nothing is owed for it.")
    words += [
        f"Credit note {note.number} of {note.created_at:%d %B %Y}: {usd(note.amount_microusd)} "
        + ("refunded to the payment method." if note.is_refund else "added to the wallet.")
        for note in invoice.credit_notes.order_by("serial")
    ]
    words.append(
        "A product costs its price times its seat-days, divided by the days of the month. A day counts the most seats "
        "that were assigned at once, and at least one while the product is enabled. "
        "Fractions of a cent are not charged."
    )
    return [_text(each) for each in words]


def _row(cells: Sequence[str], font: str = FONT) -> list[Paragraph]:
    return [_text(cell, font=font, alignment=0 if column == 0 else 2) for column, cell in enumerate(cells)]


def _text(text: str, *, font: str = FONT, size: int = SIZE, alignment: int = 0) -> Paragraph:
    """Render plain text. Markup in it is escaped."""
    style = ParagraphStyle("text", fontName=font, fontSize=size, leading=size + LEADING - SIZE, alignment=alignment)
    return Paragraph(markup(text, font), style)


def _seller() -> list[str]:
    return [line for line in settings.INVOICE_SELLER.splitlines() if line.strip()] or ["Account Gateway"]
