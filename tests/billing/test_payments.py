"""Money comes in once and goes out once; what cannot be taken back becomes a debt."""

from billing.models import CreditLot, Transfer
from billing.operations import wallets
from billing.queries.wallets import WalletBalance
from tests.factories.billing import Purse


def pay(purse: Purse, amount: int, source: str = "txn_1", product: str | None = None) -> tuple[str, int, int]:
    return wallets.take_payment(*purse.owner, amount_microusd=amount, source=source, product=product)


def take_back(purse: Purse, amount: int, source: str = "ref_1") -> tuple[str, int, int]:
    return wallets.take_back(*purse.owner, amount_microusd=amount, source=source)


def test_a_payment_becomes_balance_once(purse: Purse) -> None:
    assert pay(purse, 1000) == ("credited", 0, 1000)
    assert pay(purse, 1000) == ("already", 0, 1000)
    assert purse.wallet == WalletBalance(1000, 0, 0, 1000, 0, ())
    [posted] = Transfer.objects.all()
    assert (posted.kind, posted.source, posted.debit_account) == ("payment", "txn_1", "platform:payments")


def test_a_payment_for_a_product_becomes_a_credit_that_does_not_expire(purse: Purse) -> None:
    assert pay(purse, 1000, product="studio") == ("credited", 0, 1000)
    assert pay(purse, 1000, product="studio") == ("already", 0, 1000)
    [credit] = purse.wallet.credits
    assert (credit.product, credit.remaining_microusd, credit.expires_at) == ("studio", 1000, None)
    assert purse.wallet.balance_microusd == 0


def test_a_payment_of_another_amount_or_owner_is_another_payment(purse: Purse) -> None:
    pay(purse, 1000)
    assert pay(purse, 999)[0] == "conflict"
    assert pay(Purse(), 1000)[0] == "conflict"
    assert purse.wallet.balance_microusd == 1000


def test_a_refund_takes_what_is_there(purse: Purse) -> None:
    pay(purse, 1000)
    assert take_back(purse, 400) == ("taken", 400, 0)
    assert take_back(purse, 400) == ("already", 400, 0)
    assert purse.wallet == WalletBalance(600, 0, 0, 600, 0, ())


def test_a_refund_never_touches_what_open_calls_hold(purse: Purse) -> None:
    purse.pay(1000).reserve(700)
    assert take_back(purse, 1000) == ("taken", 300, 700)
    assert purse.wallet == WalletBalance(700, 0, 700, 0, 700, ())


def test_a_debt_is_repaid_first(purse: Purse) -> None:
    assert take_back(purse, 500) == ("taken", 0, 500)
    assert pay(purse, 200, "txn_1") == ("credited", 200, 0)
    assert pay(purse, 400, "txn_2") == ("credited", 300, 100)
    assert pay(purse, 400, "txn_2") == ("already", 300, 100)
    assert purse.wallet == WalletBalance(100, 0, 0, 100, 0, ())


def test_a_debt_is_repaid_before_a_product_gets_its_credit(purse: Purse) -> None:
    take_back(purse, 500)
    assert pay(purse, 500, "txn_1", product="studio") == ("credited", 500, 0)
    assert not CreditLot.objects.exists()
    take_back(purse, 500, "ref_2")
    assert pay(purse, 700, "txn_2", product="studio") == ("credited", 500, 200)
    assert CreditLot.objects.get().granted_microusd == 200
