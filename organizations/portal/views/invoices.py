"""Pages for seat invoices: list, details with payment status, PDF, pay now."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from accounts.operations import limits
from accounts.queries.accounts import person
from billing.models import PENDING, UNPAID, Invoice, InvoicePayment, InvoicePaymentStatus, InvoiceStatus
from billing.queries import invoices as queries
from billing.queries import payment_methods, payment_pages
from billing.rules import invoice_labels
from billing.rules.invoice_amounts import in_cents
from gateway.core.contract.errors import ApiError, IntegrationUnavailable
from gateway.core.contract.route_limits import REPORTS
from gateway.core.http.rate_limits import note
from gateway.core.portal.forms import OnceForm
from organizations.models import Membership
from organizations.operations import seat_invoices
from organizations.portal import invoice_pdf, texts
from organizations.portal.pages import back_to, member_page, product_choices, show
from organizations.rules.roles import MONEY_MANAGERS

TAB = "organization_invoices"
PAGE = 20

PAID = "The invoice is paid. Thank you."
IN_PROGRESS = "The charge has begun. The bank has not answered yet."
REFUSED = "The charge was refused. The reason is below."
NOTHING_SAVED = "No payment method is saved. Save one first, and the invoice is charged."


@require_GET
@member_page(*MONEY_MANAGERS)
def index(request: HttpRequest, membership: Membership) -> HttpResponse:
    """List the invoices, newest month first."""
    rows = Paginator(queries.of_organization(membership.organization_id), PAGE).get_page(request.GET.get("page"))
    totals = [in_cents([], one.total_microusd).total for one in rows]
    return show(request, membership, TAB, rows=rows, totals=list(zip(rows, totals, strict=True)))


@require_GET
@member_page(*MONEY_MANAGERS)
def show_one(request: HttpRequest, membership: Membership, invoice_id: str) -> HttpResponse:
    """Show an invoice, its credit notes, and the outcome of each charge."""
    invoice = _invoice(membership, invoice_id)
    names = dict(product_choices(membership.organization_id))
    lines = list(invoice.lines.all())
    amounts = in_cents([line.amount_microusd for line in lines], invoice.total_microusd)
    notes = list(invoice.credit_notes.order_by("serial"))
    context = {
        "lines": [
            (names.get(line.product, line.product), line, cents)
            for line, cents in zip(lines, amounts.lines, strict=True)
        ],
        "amounts": amounts,
        "credit_notes": notes,
        "is_refunded": any(note.is_refund for note in notes),
        "attempts": invoice.payments.order_by("-created_at", "-id"),
        **_collection(invoice),
    }
    response = show(request, membership, TAB, template="organization_invoice", invoice=invoice, **context)
    response.form_targets = payment_pages.origins()  # type: ignore[attr-defined]
    return response


@require_GET
@member_page(*MONEY_MANAGERS)
def pdf(request: HttpRequest, membership: Membership, invoice_id: str) -> HttpResponse:
    """Return an invoice as a PDF."""
    note(request, limits.take(REPORTS, person(request).did, now=timezone.now()))
    invoice = _invoice(membership, invoice_id)
    names = dict(product_choices(membership.organization_id))
    file = invoice_pdf.render(invoice, membership.organization, names)
    name = invoice.number or f"draft-{invoice.period_start:%Y-%m}"
    disposition = f'attachment; filename="{name}.pdf"'
    return HttpResponse(file, content_type="application/pdf", headers={"Content-Disposition": disposition})


@require_POST
@member_page(*MONEY_MANAGERS)
def pay(request: HttpRequest, membership: Membership, invoice_id: str) -> HttpResponse:
    """Charge an unpaid invoice to the saved payment method now."""
    _invoice(membership, invoice_id)
    try:
        payment = seat_invoices.pay_now(
            org_id=membership.organization_id, invoice_id=invoice_id, actor_did=person(request).did
        )
    except IntegrationUnavailable as error:
        messages.error(request, error.message)
    except ApiError as error:
        messages.error(request, texts.of_error(error))
    else:
        _report(request, payment, _invoice(membership, invoice_id))
    return back_to("organization_invoice", membership, invoice_id=invoice_id)


def _invoice(membership: Membership, invoice_id: str) -> Invoice:
    return get_object_or_404(queries.of_organization(membership.organization_id), pk=invoice_id)


def _collection(invoice: Invoice) -> dict[str, Any]:
    """Return the page's context about collection: the next step, and the possible actions."""
    is_unpaid, is_scheduled = invoice.status in UNPAID, invoice.next_attempt_at is not None
    undecided = _undecided(invoice) if is_unpaid else None
    can_save = is_unpaid and payment_pages.are_configured()
    is_saved = can_save and _has_method(invoice)
    return {
        "next_step": invoice_labels.next_step(
            invoice.status, undecided, is_scheduled=is_scheduled, is_method_saved=is_saved
        ),
        "can_pay": is_saved and undecided is None,
        "can_save": can_save,
        "is_method_saved": is_saved,
        "keep_method": OnceForm(auto_id="id_keep_%s"),
    }


def _has_method(invoice: Invoice) -> bool:
    return payment_methods.current(("organization", invoice.org_id)) is not None


def _undecided(invoice: Invoice) -> str | None:
    """Return the status of the charge with a pending outcome; there is at most one."""
    return invoice.payments.filter(status__in=PENDING).values_list("status", flat=True).first()


def _report(request: HttpRequest, payment: InvoicePayment | None, invoice: Invoice) -> None:
    """Add a message with the outcome of a charge attempt, or why there was none. `invoice` was read afterwards."""
    if invoice.status == InvoiceStatus.PAID:
        messages.success(request, PAID)
    elif payment is None and invoice.status in UNPAID:
        undecided = _undecided(invoice)
        messages.warning(
            request, invoice_labels.next_step(invoice.status, undecided, is_scheduled=True) or NOTHING_SAVED
        )
    elif payment is not None and payment.status == InvoicePaymentStatus.FAILED:
        messages.error(request, REFUSED)
    elif payment is not None:
        messages.info(request, IN_PROGRESS)
