"""The reads of an organization's billing view and member list grow neither with other organizations nor with its
history.
"""

from collections.abc import Callable

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from billing.rules.months import month_around
from organizations.models import Organization
from organizations.queries import billing, memberships
from tests.support.fresh_tables import renew
from tests.support.unguarded import unguarded

# Real transactions, so that the rows' space is freed: other tests check plans, too.
pytestmark = pytest.mark.django_db(transaction=True)

# 10 organizations with 100 members and 10 seats each. Every seat was assigned 40 times before this month, and once within it.
ROWS = """
INSERT INTO accounts_account (did, password, display_name, is_active, is_staff, is_superuser, created_at)
SELECT 'did:web:' || n, '', '', true, false, false, now() FROM generate_series(1, 1000) n;
INSERT INTO accounts_product (slug, name, seat_price_microusd) VALUES ('studio', 'Studio', 20000000) ON CONFLICT DO NOTHING;
INSERT INTO billing_seat_price (product, price_microusd, effective_at) VALUES ('studio', 20000000, '2000-01-01T00:00:00Z');
INSERT INTO organizations_organization (id, name, version, is_past_due, created_at, changed_at)
SELECT 'org_' || n, 'Acme', 1, false, now(), now() FROM generate_series(1, 10) n;
INSERT INTO organizations_membership (id, organization_id, account_id, role, version, created_at)
SELECT 'mem_' || id, 'org_' || 1 + id %% 10, id, 'member', 1, now() FROM accounts_account WHERE did LIKE 'did:web:%%';
INSERT INTO organizations_entitlement (organization_id, product_id, is_enabled, version)
SELECT id, 'studio', true, 1 FROM organizations_organization;
INSERT INTO organizations_entitlementinterval (entitlement_id, started_at)
SELECT id, %(start)s FROM organizations_entitlement;
INSERT INTO organizations_seat (entitlement_id, membership_id, assigned_at, version)
SELECT e.id, m.id, now(), 1
  FROM organizations_entitlement e JOIN organizations_membership m ON m.organization_id = e.organization_id
 WHERE m.account_id / 10 %% 10 = 0;
INSERT INTO organizations_seatinterval (seat_id, started_at, ended_at)
SELECT s.id, at, CASE WHEN at < %(start)s THEN at + interval '1 hour' END
  FROM organizations_seat s, generate_series(0, 40) n, LATERAL (SELECT %(start)s - n * interval '1 day' AS at) made;
INSERT INTO billing_wallet (id, owner_kind, owner_key) SELECT 'wal_' || n, 'organization', 'org_' || n FROM generate_series(1, 10) n;
INSERT INTO billing_credit_lot (id, wallet_id, granted_microusd, remaining_microusd, source_kind, source_key)
SELECT 'crd_' || n, 'wal_' || 1 + n %% 10, 1, 1, 'test', 'key_' || n FROM generate_series(1, 2000) n;
INSERT INTO billing_invoice (id, org_id, status, period_start, period_end, total_microusd, due_microusd)
SELECT 'inv_' || o || '_' || n, 'org_' || o, 'draft', at, at + interval '1 month', 1, 0
  FROM generate_series(1, 100) o, generate_series(1, 30) n, LATERAL (SELECT %(start)s - n * interval '1 month' AS at) made;
INSERT INTO billing_invoice_line (invoice_id, product, price_microusd, seat_days, amount_microusd)
SELECT id, 'studio', 1, 1, 1 FROM billing_invoice
"""
SEAT_OF_THIS_MONTH = "Index Cond: ((seat_id = s.id) AND (COALESCE(ended_at,"
"""Intervals that ended before the month are not read; each seat's intervals are found by index."""

TABLES = (
    *(f"organizations_{name}" for name in ("seatinterval", "seat", "entitlementinterval", "entitlement", "membership")),
    *(f"billing_{name}" for name in ("credit_lot", "invoice", "invoice_line", "wallet")),
)


@pytest.fixture
def organization() -> Organization:
    """Create many organizations with a long history; return one of them."""
    start, _ = month_around(timezone.now())
    renew(*TABLES)
    with connection.cursor() as cursor, unguarded():
        for statement in ROWS.split(";\n"):
            cursor.execute(statement, {"start": start})
        cursor.execute(f"ANALYZE accounts_account, {', '.join(TABLES)}")
    return Organization.objects.get(pk="org_7")


def analyze_as_empty(*tables: str) -> None:
    """Set statistics from when the tables were empty. The row estimates survive the transaction."""
    with transaction.atomic():
        with connection.cursor() as cursor, unguarded():
            for table in tables:
                cursor.execute(f"DELETE FROM {table}")
                cursor.execute(f"ANALYZE {table}")
        transaction.set_rollback(True)


def plans_of(read: Callable[[], object]) -> str:
    """Return the plans of all statements that a function executes."""
    with CaptureQueriesContext(connection) as taken:
        read()
    with connection.cursor() as cursor:
        plans = []
        for statement in (one["sql"] for one in taken if "SELECT" in one["sql"]):
            cursor.execute(f"EXPLAIN {statement}")
            plans += [row[0] for row in cursor.fetchall()]
    return "\n".join(plans)


def test_reports_read_their_own_rows_of_this_month(organization: Organization) -> None:
    plan = plans_of(lambda: billing.view(organization, timezone.now()))
    for index in ("seat_interval_by_end", "lot_open", "invoice_of_organization", "invoice_line_one_per_product"):
        assert index in plan, plan
    assert SEAT_OF_THIS_MONTH in plan, plan
    plan += plans_of(lambda: memberships.listed(organization.pk))
    for table in ("organizations_membership", "organizations_seatinterval", "billing_credit_lot", "billing_invoice"):
        assert f"Seq Scan on {table}" not in plan, plan
    analyze_as_empty("organizations_seatinterval", "organizations_seat")
    plan = plans_of(lambda: billing.view(organization, timezone.now()))
    assert SEAT_OF_THIS_MONTH in plan, plan
