"""A call's page: what it was, what it cost and why, and what became of it, from its proof to its receipt."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from billing.admin import call_steps
from billing.models import Call, CallState
from billing.queries import call_money
from billing.queries.call_money import CallMoney
from billing.rules import call_causes, call_labels, charge_parts
from billing.rules.charge_components import Component
from billing.rules.prices import PICO_PER_MICRO, show
from gateway.core.console import PartyColumn, links
from gateway.core.console.moments import lasted, moment, offset
from gateway.core.console.row_names import row_names
from gateway.core.contract.aliases import Route
from gateway.core.contract.amounts import pico_decimals, usd, usd_of_pico
from gateway.core.telemetry.models import RequestTrace
from gateway.core.telemetry.queries import traces
from gateway.core.telemetry.rules.checks import CHECKS
from gateway.core.telemetry.rules.phases import attempts_of

UNKNOWN = "Not known"
_OWNER = PartyColumn("Owner", "wallet.owner_key", kind_path="wallet.owner_kind")
_ACTOR = PartyColumn("Called by", "actor_did")
_ORGANIZATION = PartyColumn("Organization", "org_id", kind="organization")

Facts = list[tuple[str, Any]]


def context(call: Call) -> dict[str, Any]:
    """Return what the page's template shows of a call. Money is from the ledger; the trace adds times and attempts."""
    trace = traces.of_call(call.pk)
    money = call_money.of_call(call, trace.steps.get("hold") or {} if trace else {})
    names = _deployments(call, trace)
    return {
        "call": call,
        "ending": _ending(call),
        "figures": _figures(call, money, trace),
        "review": _review(call),
        "trace": trace,
        "trace_days": settings.REQUEST_TRACE_DAYS,
        "bars": call_steps.bars(trace) if trace else [],
        "steps": call_steps.rows(call, trace, money.seal, names),
        "who": _who(call, trace),
        "checks": len(CHECKS),
        "attempts": _attempts(trace, names),
        "hold": _hold(call, money, trace),
        "charge": _charge(call, money),
        "cost": _cost(money),
        "ledger": _ledger(money),
        "receipt": _receipt(call, money),
    }


def _ending(call: Call) -> call_labels.Ending:
    used = getattr(call, "usage_record", None)
    return call_labels.ending(
        call.state,
        review_reason=call.review_reason,
        resolution=call.resolution,
        basis=used.basis if used else None,
        overrun_microusd=call.overrun_microusd,
    )


def _figures(call: Call, money: CallMoney, trace: RequestTrace | None) -> list[tuple[str, str, str]]:
    """Return the page's cards: title, figure, note."""
    word = call_causes.word_of(call.state, call.review_reason, call.resolution)
    cause = call_causes.title(word or (trace.cause if trace else ""))  # why a stream was cut is only in its trace
    charge = usd(call.charge_microusd or 0) if call.closed_at else "Not known yet"
    cost, margin = money.cost_microusd, money.margin_microusd
    times = trace and f"first byte after {_first_byte(trace)}"
    return [
        ("Charge", charge, cause or f"of {usd(call.hold_microusd)} held"),
        ("Held", usd(call.hold_microusd), f"of at most {usd(call.max_cost_microusd)} that the caller stated"),
        ("Cost", UNKNOWN if cost is None else usd(cost), "" if margin is None else f"margin {usd(margin)}"),
        ("Duration", lasted(trace.duration_microseconds) if trace else UNKNOWN, times or "no trace was kept"),
    ]


def _first_byte(trace: RequestTrace) -> str:
    return UNKNOWN if trace.first_byte_microseconds is None else lasted(trace.first_byte_microseconds)


def _review(call: Call) -> Facts:
    """Return what is known of a call in review; empty for any other."""
    if call.state != CallState.REVIEW:
        return []
    evidence = call.evidence or {}
    return [
        ("Why", call_causes.title(call.review_reason)),
        ("Held until then", usd(call.hold_microusd)),
        ("Delivered", ", ".join(f"{name} {value}" for name, value in evidence.items()) or "nothing is known"),
        ("Next look-up", moment(call.next_look_up_at) if call.next_look_up_at else "none is planned"),
        ("Without evidence", f"released {settings.REVIEW_RELEASE_HOURS} hours after it was sent, as a possible loss"),
    ]


def _who(call: Call, trace: RequestTrace | None) -> Facts:
    """Return the parties of a call, each with a link to its page."""
    found: Facts = [("Pays", _OWNER(call)), ("Called by", _ACTOR(call))]
    if call.org_id:
        found.append(("Organization", _ORGANIZATION(call)))
    if call.membership_id:
        found.append(("Membership", call.membership_id))
    found += [
        ("Product", call.product or "none"),
        ("App (client)", call.client_id or "none"),
        ("Key (thumbprint)", trace.credential if trace and trace.credential else UNKNOWN),
        ("Model", links([(call.model, "inference_alias", call.model)])),
        ("Request ID", call.request_id or "none"),
        ("Idempotency key", call.idempotency_key or "none"),
        ("Body (SHA-256)", bytes(call.body_sha256).hex() if call.body_sha256 else "none"),
    ]
    return found


def _deployments(call: Call, trace: RequestTrace | None) -> dict[str, str]:
    known = {each.deployment for each in attempts_of(trace.steps)} if trace else set()
    return row_names("deployment", sorted(filter(None, {*known, call.deployment or ""})))


def _attempts(trace: RequestTrace | None, names: Mapping[str, str]) -> dict[str, Any]:
    rows = [
        [
            str(each.number),
            names.get(each.deployment) or each.upstream,
            offset(each.began),
            offset(each.first_byte) if each.first_byte is not None else "none",
            lasted(each.ended - each.began) if each.ended is not None else UNKNOWN,
            str(each.status or "none"),
            call_causes.title(each.cause) or "Its answer is complete",
        ]
        for each in (attempts_of(trace.steps) if trace else ())
    ]
    headers = ["Attempt", "Deployment", "Began", "First byte", "Took", "Status", "Ended"]
    return {"headers": headers, "rows": rows}


def _hold(call: Call, money: CallMoney, trace: RequestTrace | None) -> dict[str, Any]:
    held_at = money.held_at
    cover = [
        _linked(lot, "billing_creditlot_change", f"{usd(amount)} from credit {lot}")
        for lot, amount in money.credits_held
    ]
    if call.cash_held_microusd or not cover:
        cover.append(format_html("{} from the balance", usd(call.cash_held_microusd)))
    budgets = [
        _linked(each.pk, "billing_budget_change", f"{each.scope}, {usd(each.limit_microusd)} a {each.period}")
        for each in money.budgets
    ]
    return {
        "amount": usd(call.hold_microusd),
        "most": usd(call.max_cost_microusd),
        "is_session": call.route == Route.REALTIME,
        "parts": _parts(money.held, "Hold", call.hold_microusd),
        "bound": [
            (name.replace("_", " "), f"{value:,}")
            for name, value in (money.bound.counts() if money.bound else {}).items()
        ],
        "is_kept": trace is not None,
        "price": _linked(str(held_at.pk), "billing_priceversion_change", f"Version {held_at.pk}, of {held_at.alias}"),
        "components": show(held_at.components),
        "cover": cover,
        "budgets": budgets,
    }


def _charge(call: Call, money: CallMoney) -> dict[str, Any]:
    used = money.used
    if used is None:
        return {}
    version = money.takeover.price_version if money.takeover else call.price_version
    counts = [
        (name.replace("_", " "), f"{getattr(used, name):,}") for name in _QUANTITIES if getattr(used, name) is not None
    ]
    return {
        "parts": _parts(money.charged, "Charge", used.charge_microusd),
        "used": counts,
        "basis": _BASES.get(used.basis, used.basis),
        "tier": used.service_tier or "the default one",
        "band": f"above {used.price_band:,} input tokens" if used.price_band else "the first",
        "price": _linked(str(version.pk), "billing_priceversion_change", f"Version {version.pk}"),
        "takeover": money.takeover.model if money.takeover else "",
        "credits": [
            _linked(lot, "billing_creditlot_change", f"{usd(amount)} from credit {lot}")
            for lot, amount in money.credits_charged
        ],
    }


def _cost(money: CallMoney) -> dict[str, Any]:
    used = money.used
    if used is None or used.cost_microusd is None or money.margin_microusd is None:
        return {}
    margin = money.margin_microusd
    share = f" ({margin * 100 / used.charge_microusd:.1f} % of the charge)" if used.charge_microusd else ""
    return {
        "parts": _parts(money.costed, "Cost", used.cost_microusd),
        "version": f"Version {used.cost_version_id}",
        "margin": f"{usd(used.charge_microusd)} − {usd(used.cost_microusd)} = {usd(margin)}{share}",  # noqa: RUF001
    }


def _ledger(money: CallMoney) -> dict[str, Any]:
    rows = [
        [
            moment(each.created_at),
            _linked(str(each.pk), "billing_transfer_change", f"{each.kind} {each.seq}"),
            each.debit_account,
            each.credit_account,
            usd(each.amount_microusd),
        ]
        for each in money.transfers
    ]
    rows += [
        [moment(each.created_at), f"Loss: {each.kind}", "", "", usd(each.amount_microusd)] for each in money.losses
    ]
    return {"headers": ["Time (UTC)", "Entry", "From", "To", "Amount"], "rows": rows}


def _receipt(call: Call, money: CallMoney) -> Facts:
    if call.closed_at is None:
        return [("Seal", "none yet: the call is open")]
    seal = money.seal
    covered = (
        f"number {seal.pk}, chain {bytes(seal.chain).hex()}"
        if seal
        else "none yet: ten to twenty minutes after the end"
    )
    receipt = (
        "the caller can fetch it: it is settled"
        if call.state == CallState.SETTLED
        else "none: only settled calls have one"
    )
    return [("Seal", covered), ("Receipt", receipt)]


def _parts(components: Sequence[Component], title: str, amount_microusd: int) -> dict[str, Any]:
    """Return the arithmetic of an amount as a table: each part exactly, their sum, and the sum rounded up once."""
    if not components:
        return {}
    total = sum(each.amount for each in components)
    places = max(pico_decimals(each.amount) for each in components)
    rows: list[list[Any]] = [
        [part.name, "" if part.count is None else f"{part.count:,}", f"{part.price} {part.per}".strip(), part.amount]
        for part in charge_parts.parts(components)
    ]
    rows.append(["Sum", "", "", usd_of_pico(total, places)])
    exact = amount_microusd * PICO_PER_MICRO == total
    rows.append(_strong(title, "exact" if exact else "rounded up to a millionth of a dollar", usd(amount_microusd)))
    return {"headers": ["Part", "Count", "Price", "Amount"], "rows": rows}


def _strong(title: str, note: str, amount: str) -> list[SafeString]:
    return [format_html("<strong>{}</strong>", text) for text in (title, "", note, amount)]


def _linked(row_id: str, page: str, text: str) -> SafeString:
    return format_html('<a class="underline" href="{}">{}</a>', reverse(f"admin:{page}", args=[row_id]), text)


_BASES = {
    "upstream": "counted by the upstream",
    "delivered": "estimated from what was delivered",
    "operator": "decided by an operator",
}
_QUANTITIES = (
    *("input_tokens", "cached_input_tokens", "cache_write_tokens", "cache_write_1h_tokens", "output_tokens"),
    *("input_audio_tokens", "output_audio_tokens", "images", "input_characters", "seconds", "input_bytes", "items"),
)
