"""A ledger with something of everything that happens to money."""

from datetime import datetime, timedelta

from django.utils import timezone

from accounts.models import Account
from accounts.operations import closing
from billing.models import PriceVersion, Transfer, Wallet
from billing.operations import budgets, costs, ledger, reviews, seals
from billing.operations.budgets import Override
from billing.rules.budgets import BudgetPeriod, Subject
from tests.factories import invoicing, matches, payments
from tests.factories.billing import ANSWER, Purse, release, review, settle, used_for

PICTURES = {"image": {"1024x1024/high": "40000.5", "1024x1024/low": "10000"}}
SPEECH = {"input_character": "0.000001", "request": "2"}
LONG = {
    "input_token": "2",
    "cache_write_token": "3.5",
    "cache_write_1h_token": "4",
    "output_token": "10",
    "bands": [{"above_input_tokens": 5, "input_token": "3"}, {"above_input_tokens": 20, "output_token": "20"}],
    "service_tiers": {"flex": {"input_token": "1", "bands": [{"above_input_tokens": 10, "output_token": "5"}]}},
}
APP = "https://app.example"
TOKENS = {"input_token": "0.15", "cached_input_token": "0.075", "output_token": "0.60"}
COSTS = {
    "input_token": "1",
    "cache_write_token": "2",
    "output_token": "3",
    "bands": [{"above_input_tokens": 100, "input_token": "0.5"}],
    "service_tiers": {"flex": {"input_token": "0.25"}},
}


def furnish() -> dict[str, str]:
    """Make the ledger and seal it; return its rows by what they are."""
    now = timezone.now()
    purse, org, other = Purse(), Purse("organization", "org_acme"), Purse().pay(5000)
    rows = {"purse": purse.key, "org": org.key, "other": other.key}
    rows |= _money(purse, org, now)
    seals.seal_until(timezone.now())
    rows |= _calls(purse) | _calls_of_organization(org) | _prices(purse) | _costs(purse)
    rows |= _open_calls(purse, org) | _invoices()
    rows |= _budgets_of_person(other) | _closed_account()
    matches.furnish()
    for name, one in (("purse", purse), ("org", org), ("other", other)):
        rows[f"{name}_wallet"] = Wallet.objects.get(owner_key=one.key).id
    rows["price"] = str(PriceVersion.objects.get(alias="fast").pk)
    rows["payment_transfer"] = str(Transfer.objects.get(kind="payment", source=rows["checkout"]).pk)
    seals.seal_until(timezone.now())
    return rows


def _money(purse: Purse, org: Purse, now: datetime) -> dict[str, str]:
    """Pay, grant, refund, and let a credit expire."""
    checkout = payments.top_up(purse.owner, 1_000_000)
    payments.refund(purse.owner, 200)
    org.pay(2000)
    payments.top_up(org.owner, 300, product="studio")
    disputed = payments.top_up(purse.owner, 500)
    payments.refund(purse.owner, 500)
    payments.take_back(disputed, 400)
    expired = purse.grant(70, expires_at=now + timedelta(seconds=60))
    ledger.sweep_lots(now=now + timedelta(seconds=60)).rows()
    indebted = Purse().pay(300)
    settle(indebted.call(300), 300)
    indebted.refund(200)
    return {
        "checkout": checkout.id,
        "expired_lot": expired,
        "lot": purse.grant(300),
        "expiring_lot": purse.grant(40, product="courier", expires_at=now + timedelta(days=30)),
        "indebted": indebted.key,
    }


def _closed_account() -> dict[str, str]:
    """Close the account of a person who had credits."""
    person = Account.objects.create_user("did:web:gateway.example:accounts:acc_closed", display_name="Carla")
    purse = Purse("account", person.did)
    lots = [purse.grant(70), purse.grant(5, product="courier")]
    closing.close(account=person, now=timezone.now())
    return {
        "closed": str(person.pk),
        "forfeited_lot": lots[0],
        "closed_wallet": Wallet.objects.get(owner_key=person.did).pk,
    }


def _calls(purse: Purse) -> dict[str, str]:
    """Charge calls in every way: from credits and balance, beyond the hold, as delivered, by an operator."""
    settled, overrun, delivered, decided = (purse.call(350, key) for key in ("a", "b", "c", "d"))
    settle(settled, 340, replay=ANSWER)
    settle(overrun, 400)
    review(delivered)
    settle(delivered, 30, basis="delivered", resolution="delivered")
    review(decided)
    reviews.charge(decided, cost_microusd=20)
    paid, again = purse.call(350, "e"), purse.call(200, "f")
    settle(paid, 340)
    settle(again, 120, replay=ANSWER)
    return {
        "settled": settled,
        "overrun": overrun,
        "delivered": delivered,
        "decided": decided,
        "paid": paid,
        "again": again,
    }


def _calls_of_organization(org: Purse) -> dict[str, str]:
    """Count calls in budgets, release one, and lose one."""
    now = timezone.now()
    budget = budgets.put(Subject(org.owner), limit_microusd=900, now=now)
    member = budgets.put(Subject(org.owner, "studio", "mem_1"), limit_microusd=500, now=now)
    override = Override(600, now + timedelta(days=1))
    week = budgets.put(Subject(org.owner), limit_microusd=500, period=BudgetPeriod.WEEK, override=override, now=now)
    paid, released, lost = org.call(80, "a"), org.call(40, "b"), org.call(60, "c")
    counted = org.call(100, product="studio", membership_id="mem_1")
    settle(paid, 70)
    settle(counted, 90)
    release(released)
    review(lost)
    release(lost, expected=["review"], book_loss=True, resolution="unresolved")
    return {
        "budget": budget.id,
        "member_budget": member.id,
        "week_budget": week.id,
        "paid_by_org": paid,
        "released": released,
        "lost": lost,
        "counted": counted,
    }


def _budgets_of_person(purse: Purse) -> dict[str, str]:
    """Limit what a person spends, in a day and through an app, and leave a call of the app open."""
    total = budgets.put(Subject(purse.owner), limit_microusd=900, period=BudgetPeriod.DAY)
    app = budgets.put(Subject(purse.owner, client_id=APP), limit_microusd=500)
    settle(purse.call(40, client_id=APP), 30)
    return {"account_budget": total.id, "client_budget": app.id, "open_of_app": purse.call(20, client_id=APP)}


def _prices(purse: Purse) -> dict[str, str]:
    """Charge calls at prices of every sort: pictures by size, characters, cached and written tokens, bands, tiers."""
    versions = {
        model: PriceVersion.objects.create(alias=model, components=components).pk
        for model, components in (("picture", PICTURES), ("speech", SPEECH), ("cached", TOKENS), ("long", LONG))
    }
    pictures, speech, cached, written, flex = (
        purse.call(hold, model=model, price_version=versions[model])
        for hold, model in ((90_000, "picture"), (50, "speech"), (50, "cached"), (50, "long"), (50, "long"))
    )
    settle(pictures, 80_001, quantities={"images": 2})
    settle(speech, 3, quantities={"input_characters": 900_001})
    settle(cached, 10, quantities={"input_tokens": 30, "cached_input_tokens": 10, "output_tokens": 10})
    writes = {"cache_write_tokens": 5, "cache_write_1h_tokens": 2, "price_band": 5}
    settle(written, 42, quantities={"input_tokens": 6, "output_tokens": 2, **writes})
    settle(flex, 21, quantities={"input_tokens": 11, "output_tokens": 2, "service_tier": "flex", "price_band": 10})
    return {"pictures": pictures, "speech": speech, "cached": cached, "written": written, "flex": flex}


def _costs(purse: Purse) -> dict[str, str]:
    """Charge calls whose cost is known: below a band and in it, and in both of two deployments."""
    now = timezone.now()
    version, other = (costs.publish(name, COSTS, now=now) for name in ("costed", "costed-too"))
    assert version is not None
    assert other is not None
    usages = {
        "costed": ({"input_tokens": 100, "cache_write_tokens": 10, "output_tokens": 1}, 90 + 20 + 3, 16),
        "costed_in_band": ({"input_tokens": 101, "output_tokens": 1}, 54, 16),
    }
    rows = {"cost": str(version.pk), "other_cost": str(other.pk)}
    for name, (usage, cost_microusd, charge_microusd) in usages.items():
        rows[name] = purse.call(50)
        known = {**usage, "cost_microusd": cost_microusd, "cost_version_id": version.pk}
        settle(rows[name], charge_microusd, quantities=known, deployment="costed")
    return rows


def _invoices() -> dict[str, str]:
    """Invoice seats: one paid, credited and refunded in part, one past due, one of a few cents, one that is a draft
    still."""
    paid = invoicing.paid("org_seats", months_ago=4)
    invoicing.credit(paid, 1_000_000)
    invoicing.record_refund(paid, 200)
    return {
        "paid_invoice": paid.pk,
        "past_due_invoice": invoicing.refused("org_seats", months_ago=3).pk,
        "small_invoice": invoicing.issued("org_seats", months_ago=2, price=300_000).pk,
        "draft_invoice": invoicing.drafted("org_seats", months_ago=1).pk,
    }


def _open_calls(purse: Purse, org: Purse) -> dict[str, str]:
    """Leave calls open: sent, in review with an answer, holding balance and credits."""
    rows = {"open": org.call(70, "d"), "reviewed": org.call(50, "e"), "holding": purse.call(20)}
    review(rows["reviewed"], replay=ANSWER, evidence={**used_for(10), "charge_microusd": 10})
    purse.grant(30)
    rows["holding_lot"] = purse.call(25)
    return rows
