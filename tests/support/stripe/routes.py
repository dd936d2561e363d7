"""The routes of the API and of the hosted page."""

from typing import Protocol

from aiohttp import web

from tests.support.stripe.accounts import Accounts
from tests.support.stripe.api import Api
from tests.support.stripe.balance import Balance
from tests.support.stripe.disputes import Disputes
from tests.support.stripe.events import Events
from tests.support.stripe.keeping import Keeping
from tests.support.stripe.pages import Pages
from tests.support.stripe.payments import Payments
from tests.support.stripe.refunds import Refunds
from tests.support.stripe.sessions import Sessions


class World(Protocol):
    """The objects that the routes use."""

    checkouts: Sessions
    payments: Payments
    refunds: Refunds
    disputes: Disputes
    accounts: Accounts
    balance: Balance
    keeping: Keeping
    events: Events


def add_routes(app: web.Application, api: Api, world: World, pages: Pages) -> None:
    """Add every route."""
    posts = {
        "/checkout/sessions": world.checkouts.create,
        "/checkout/sessions/{id}/expire": world.checkouts.expire,
        "/payment_intents": world.payments.create,
        "/payment_methods/{id}/detach": world.keeping.detach,
        "/refunds": world.refunds.create,
    }
    gets = {
        "/accounts": world.accounts.list,
        "/accounts/{id}": world.accounts.retrieve,
        "/balance": world.accounts.balance,
        "/balance_transactions": world.balance.list,
        "/balance_transactions/{id}": world.balance.retrieve,
        "/charges": world.payments.list_charges,
        "/charges/{id}": world.payments.retrieve_charge,
        "/checkout/sessions": world.checkouts.list,
        "/checkout/sessions/{id}": world.checkouts.retrieve,
        "/checkout/sessions/{id}/line_items": world.checkouts.line_items,
        "/customers/{id}": world.keeping.retrieve,
        "/disputes": world.disputes.list,
        "/disputes/{id}": world.disputes.retrieve,
        "/events": world.events.list,
        "/events/{id}": world.events.retrieve,
        "/payment_intents": world.payments.list_intents,
        "/payment_intents/{id}": world.payments.retrieve_intent,
        "/payment_methods/{id}": world.keeping.retrieve,
        "/refunds": world.refunds.list,
        "/refunds/{id}": world.refunds.retrieve,
        "/setup_intents/{id}": world.keeping.retrieve,
    }
    for path, operation in posts.items():
        app.router.add_post(f"/v1{path}", api.route(operation))
    for path, operation in gets.items():
        app.router.add_get(f"/v1{path}", api.route(operation))
    app.router.add_get("/c/pay/{id}", pages.show)
    app.router.add_post("/c/pay/{id}", pages.pay)
    app.router.add_route("*", "/{tail:.*}", api.unknown)
