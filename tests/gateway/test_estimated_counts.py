"""Pages of long lists: no query counts the rows, and a page says how many there are as exactly as is known."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from billing.models import Wallet
from gateway.core.console.estimated_counts import PAGES_MAX, EstimatedPaginator, estimate, rounded
from tests.gateway.operators import address

pytestmark = pytest.mark.django_db


def make_wallets(count: int) -> None:
    Wallet.objects.bulk_create(
        Wallet(id=f"wal_{number}", owner_kind="account", owner_key=f"did:web:x.example:{number}")
        for number in range(count)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE billing_wallet")


def words(number: int, per_page: int = 10) -> str:
    paginator = EstimatedPaginator(Wallet.objects.order_by("id"), per_page)
    list(paginator.page(number).object_list)
    return paginator.total


def test_the_estimate_is_the_planners() -> None:
    make_wallets(1000)
    assert estimate(Wallet.objects.all()) == 1000
    assert estimate(Wallet.objects.filter(id__in=[])) == 0


def test_an_estimate_has_two_digits() -> None:
    assert [rounded(number) for number in (0, 7, 99, 149, 9_950_000)] == [0, 7, 99, 150, 10_000_000]


def test_the_last_page_is_exact_and_others_are_not() -> None:
    make_wallets(1234)
    assert words(1) == "about 1,200"
    assert words(124) == "1,234"
    assert words(1, per_page=5000) == "1,234"


def test_an_estimate_is_not_below_what_is_shown() -> None:
    Wallet.objects.bulk_create(
        Wallet(id=f"wal_{number}", owner_kind="account", owner_key=f"did:web:x.example:{number}")
        for number in range(30)
    )
    assert words(2, per_page=10) != "about 0"


def test_a_list_counts_nothing_and_shows_no_invented_number(operator: Client) -> None:
    make_wallets(120)
    with CaptureQueriesContext(connection) as queries:
        page = operator.get(address("billing_wallet_changelist")).content.decode()
    assert not [one for one in queries if "COUNT" in one["sql"] and "billing_wallet" in one["sql"]]
    assert "about 120 wallets" in page
    assert "9999999999" not in page
    assert "9,999,999,999" not in page
    assert 'rel="next"' in page
    assert 'rel="prev"' not in page


def test_the_last_page_leads_back_only(operator: Client) -> None:
    make_wallets(70)
    page = operator.get(address("billing_wallet_changelist"), {"p": 2}).content.decode()
    assert "70 wallets" in page
    assert 'rel="next"' not in page
    assert 'rel="prev"' in page


def test_pages_far_behind_do_not_open(operator: Client) -> None:
    make_wallets(1)
    answer = operator.get(address("billing_wallet_changelist"), {"p": PAGES_MAX + 1})
    assert (answer.status_code, answer["Location"].endswith("?e=1")) == (302, True)
