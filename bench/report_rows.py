"""Ten million settled calls of a million accounts and a few organizations, inserted without the ledger's functions.

Organizations by their current month: `org_busy` has 300,000 calls; `org_limit` the maximum for one summary, each paid
in two parts, and as many open ones; `org_small` a few. They have members, seats, invoices and credits, `org_limit` the
maximum that one view may show.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import psycopg

from gateway.core.contract.limits import (
    REPORT_CALLS_MAX,
    REPORT_HOLDS_MAX,
    REPORT_INTERVALS_MAX,
    REPORT_INVOICES_MAX,
    REPORT_LOTS_MAX,
)

ORGANIZATIONS = {"org_busy": 200, "org_limit": 1000, "org_small": 5}
"""The number of members of each."""
PRINTED_SECONDS = 5.0

_PEOPLE = """
INSERT INTO accounts_account (did, password, display_name, is_active, is_staff, is_superuser, created_at)
SELECT 'did:web:bench.example:' || n, '!', 'Person ' || n, true, false, false, now() FROM generate_series(1, %(accounts)s) n;
INSERT INTO accounts_product (slug, name, seat_price_microusd)
VALUES ('studio', 'Studio', 20000000), ('courier', 'Courier', 15000000) ON CONFLICT DO NOTHING;
INSERT INTO billing_seat_price (product, price_microusd, effective_at)
SELECT slug, seat_price_microusd, '2000-01-01T00:00:00Z' FROM accounts_product;
INSERT INTO billing_price_version (alias, components) VALUES ('fast', '{"input_token": "1"}'), ('deep', '{"input_token": "1"}');
INSERT INTO billing_wallet (id, owner_kind, owner_key, balance_microusd, alert_below_microusd)
SELECT 'wal_' || n, 'account', 'did:web:bench.example:' || n, 1000000, 1000000 FROM generate_series(1, %(accounts)s) n;
"""
_ORGANIZATION = """
INSERT INTO organizations_organization (id, name, version, is_past_due, created_at, changed_at)
VALUES (%(org)s, %(org)s, 1, false, now(), now());
INSERT INTO organizations_membership (id, organization_id, account_id, role, version, created_at)
SELECT 'mem_' || %(org)s || '_' || n, %(org)s, a.id, CASE n WHEN 1 THEN 'owner' ELSE 'member' END, 1, now()
  FROM generate_series(1, %(members)s) n JOIN accounts_account a ON a.did = 'did:web:bench.example:' || n;
INSERT INTO billing_wallet (id, owner_kind, owner_key, balance_microusd, alert_below_microusd)
VALUES ('wal_' || %(org)s, 'organization', %(org)s, 1000000, 1000000);
INSERT INTO organizations_entitlement (organization_id, product_id, is_enabled, version)
VALUES (%(org)s, 'studio', true, 1), (%(org)s, 'courier', true, 1);
INSERT INTO organizations_entitlementinterval (entitlement_id, started_at)
SELECT id, %(month)s FROM organizations_entitlement WHERE organization_id = %(org)s;
INSERT INTO organizations_seat (entitlement_id, membership_id, assigned_at, version)
SELECT e.id, m.id, now(), 1 FROM organizations_entitlement e, organizations_membership m
 WHERE e.organization_id = %(org)s AND m.organization_id = %(org)s AND e.product_id = 'studio';
"""
_AT_ITS_LIMITS = """
INSERT INTO organizations_seatinterval (seat_id, started_at, ended_at)
SELECT s.id, %(month)s + step * interval '1 minute', %(month)s + step * interval '1 minute' + interval '30 seconds'
  FROM organizations_seat s JOIN organizations_entitlement e ON e.id = s.entitlement_id,
       generate_series(1, %(intervals)s) step
 WHERE e.organization_id = %(org)s ORDER BY step, s.id LIMIT %(intervals)s;
INSERT INTO billing_invoice (id, org_id, status, period_start, period_end, total_microusd, due_microusd)
SELECT 'inv_' || n, %(org)s, 'draft', at, at + interval '1 month', 35000000, 35000000
  FROM generate_series(1, %(invoices)s) n, LATERAL (SELECT '1900-01-01T00:00:00Z'::timestamptz + n * interval '1 month' AS at) m;
INSERT INTO billing_invoice_line (invoice_id, product, price_microusd, seat_days, amount_microusd)
SELECT 'inv_' || n, product, 20000000, 30, 20000000
  FROM generate_series(1, %(invoices)s) n, unnest(ARRAY['studio', 'courier']) product;
INSERT INTO billing_credit_lot (id, wallet_id, granted_microusd, remaining_microusd, source_kind, source_key)
SELECT 'crd_' || n, 'wal_' || %(org)s, 100, 100, 'bench', 'key_' || n FROM generate_series(1, %(lots)s) n;
"""
_CALLS = """
CREATE TEMPORARY TABLE made AS
SELECT 'use_' || lpad(n::text, 12, '0') AS id, org, person, begun_at, model, product,
       begun_at + CASE WHEN n %% 1000 = 0 THEN interval '30 hours' ELSE interval '3 seconds' END AS closed_at,
       CASE WHEN n %% 50 = 0 THEN 0 ELSE 100 + n %% 900 END AS charge, (1 + n %% 4)::text AS deployment
  FROM (
    SELECT n, org, CASE WHEN org IS NULL THEN 1 + n %% %(accounts)s WHEN n = 1 THEN 200 ELSE 1 + n %% (members - 1) END AS person,
           CASE WHEN n %% 3 = 0 THEN 'deep' ELSE 'fast' END AS model,
           CASE n %% 5 WHEN 0 THEN NULL WHEN 1 THEN 'courier' ELSE 'studio' END AS product,
           CASE WHEN org IN ('org_busy', 'org_limit') THEN %(month)s + random() * (now() - interval '31 hours' - %(month)s)
                ELSE now() - interval '31 hours' - random() * interval '60 days' END AS begun_at
      FROM (SELECT n, CASE WHEN n <= %(busy)s THEN 'org_busy' WHEN n <= %(busy)s + %(limit)s THEN 'org_limit'
                           WHEN n <= %(busy)s + %(limit)s + 500 THEN 'org_small' END AS org
              FROM generate_series(1, %(calls)s) n) c
      LEFT JOIN (VALUES ('org_busy', 200), ('org_limit', 1000), ('org_small', 5)) o (name, members) ON o.name = c.org) c;
INSERT INTO billing_reservation (
  id, wallet_id, actor_did, org_id, membership_id, product, client_id, route, model, request_id, idempotency_key,
  request_digest, replayable, state, max_cost_microusd, hold_microusd, cash_held_microusd, charge_microusd, overrun_microusd,
  price_version_id, created_at, dispatched_at, deadline_at, closed_at, deployment)
SELECT id, 'wal_' || coalesce(org, person::text), 'did:web:bench.example:' || person, org, 'mem_' || org || '_' || person,
       product, 'https://bench.example', 'chat.completions', model, 'req_' || id, 'key_' || id, sha256(id::bytea), true,
       'settled', 2000, 1000, 1000, charge, 0, CASE model WHEN 'fast' THEN 1 ELSE 2 END, begun_at, begun_at,
       begun_at + interval '1 minute', closed_at, deployment
  FROM made ORDER BY closed_at;
INSERT INTO billing_usage_record (reservation_id, input_tokens, output_tokens, charge_microusd, basis, settled_at)
SELECT id, charge, 0, charge, 'upstream', closed_at FROM made ORDER BY closed_at;
INSERT INTO billing_transfer (kind, source, debit_account, credit_account, amount_microusd, wallet_id, created_at)
SELECT 'charge', id, 'wallet:wal_' || coalesce(org, person::text), 'platform:revenue', charge,
       'wal_' || coalesce(org, person::text), closed_at
  FROM made WHERE charge > 0 ORDER BY closed_at;
INSERT INTO billing_transfer (kind, source, seq, debit_account, credit_account, amount_microusd, wallet_id, created_at)
SELECT 'charge', id, 1, 'wallet:wal_org_limit', 'platform:revenue', 1, 'wal_org_limit', closed_at
  FROM made WHERE org = 'org_limit' AND charge > 0 ORDER BY closed_at;
DROP TABLE made;
INSERT INTO billing_reservation (
  id, wallet_id, actor_did, org_id, membership_id, product, client_id, route, model, request_id, replayable, state,
  max_cost_microusd, hold_microusd, cash_held_microusd, overrun_microusd, price_version_id, created_at, dispatched_at,
  deadline_at)
SELECT 'use_open_' || n, 'wal_org_limit', 'did:web:bench.example:' || 1 + n %% 1000, 'org_limit',
       'mem_org_limit_' || 1 + n %% 1000, 'studio', 'https://bench.example', 'chat.completions', 'fast', 'req_open_' || n,
       false, 'dispatched', 2000, 1000, 1000, 0, 1, at, at, at + interval '1 minute'
  FROM generate_series(1, %(holds)s) n, LATERAL (SELECT %(month)s - n * interval '1 second' AS at) made;
"""


_TRAFFIC = """
INSERT INTO inference_upstream (name, adapter, base_url, api_key, timeout_seconds, bills_errors, enabled, options)
SELECT 'upstream-' || n, 'demo', '', '', 30, false, true, '{}' FROM generate_series(1, 4) n;
INSERT INTO inference_alias (name, enabled, options) VALUES ('fast', true, '{}'), ('deep', true, '{}');
INSERT INTO inference_deployment (alias_id, upstream_id, model, priority, weight, enabled)
SELECT a.id, u.id, 'small-1', 0, 1, true FROM inference_alias a, inference_upstream u WHERE u.id %% 2 = a.id %% 2;
INSERT INTO telemetry_hour (
  hour, route, model, product, upstream, outcome, cause, requests, duration_buckets, first_byte_buckets, overhead_buckets)
SELECT date_trunc('hour', now()) - h * interval '1 hour', 'chat.completions', model, product, 'upstream-' || u, outcome,
       CASE outcome WHEN 'released' THEN 'upstream_5xx' WHEN 'review' THEN 'timeout_idle' ELSE '' END, 100,
       array_fill(5::bigint, ARRAY[20]), array_fill(5::bigint, ARRAY[20]), array_fill(5::bigint, ARRAY[20])
  FROM generate_series(0, %(hours)s) h, unnest(ARRAY['fast', 'deep']) model, unnest(ARRAY['studio', 'courier', '']) product,
       generate_series(1, 4) u, unnest(ARRAY['settled', 'released', 'review']) outcome;
"""


def fill(database_url: str, *, calls: int, accounts: int, busy: int, share: float = 1.0) -> None:
    """Insert the rows into an empty database; only this share of those whose number does not depend on calls and accounts."""
    with psycopg.connect(database_url, autocommit=True, cursor_factory=psycopg.ClientCursor) as connection:
        connection.execute("SET session_replication_role = replica")  # no guards: the data is synthetic
        connection.execute("SET maintenance_work_mem = '1GB'")
        connection.execute("SELECT setseed(0.5)")
        row = connection.execute("SELECT date_trunc('month', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'").fetchone()
        assert row is not None
        given = {"calls": calls, "accounts": accounts, "busy": busy, "month": row[0]}
        given |= {name: int(number * share) for name, number in _LIMITS.items()}
        with _indexes_made_afterwards(connection, ("billing_reservation", "billing_usage_record", "billing_transfer")):
            for text, parameters in _statements():
                for statement in text.split(";\n"):
                    if statement.strip():
                        _run(connection, statement, {**given, **parameters})
        _run(connection, "VACUUM ANALYZE")


def _run(connection: psycopg.Connection, statement: str, parameters: Mapping[str, object] | None = None) -> None:
    """Execute a statement, and print how long it took if that was long enough to be waited for."""
    begun = time.monotonic()
    connection.execute(statement.encode(), parameters)
    if (taken := time.monotonic() - begun) > PRINTED_SECONDS:
        print(f"  {' '.join(statement.split())[:60]}: {taken:.1f} s", flush=True)


_INDEXES = """
SELECT i.relname, x.indrelid::regclass::text, pg_get_indexdef(x.indexrelid), c.conname, pg_get_constraintdef(c.oid)
  FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid LEFT JOIN pg_constraint c ON c.conindid = x.indexrelid
 WHERE x.indrelid = ANY(%s::regclass[]) AND NOT x.indisprimary AND (c.oid IS NULL OR c.contype IN ('u', 'x'))
"""


@contextmanager
def _indexes_made_afterwards(connection: psycopg.Connection, tables: Sequence[str]) -> Iterator[None]:
    """Drop every index of the tables but the primary keys, and build them once the rows are there: a tenth of the time."""
    indexes = connection.execute(_INDEXES, [list(tables)]).fetchall()
    for name, table, _, constraint, _ in indexes:
        drop = f"ALTER TABLE {table} DROP CONSTRAINT {constraint}" if constraint else f'DROP INDEX "{name}"'
        connection.execute(drop.encode())
    yield
    for _, table, definition, constraint, constrained in indexes:
        made = f'ALTER TABLE {table} ADD CONSTRAINT "{constraint}" {constrained}' if constraint else definition
        _run(connection, made)


_LIMITS = {
    "limit": REPORT_CALLS_MAX,
    "holds": REPORT_HOLDS_MAX,
    "intervals": REPORT_INTERVALS_MAX - 2,  # those of its two products count too
    "invoices": REPORT_INVOICES_MAX,
    "lots": REPORT_LOTS_MAX,
    "hours": 60 * 24,
}


def _statements() -> Iterator[tuple[str, dict[str, object]]]:
    yield _PEOPLE, {}
    for name, members in ORGANIZATIONS.items():
        yield _ORGANIZATION, {"org": name, "members": members}
    yield _AT_ITS_LIMITS, {"org": "org_limit"}
    yield _CALLS, {}
    yield _TRAFFIC, {}
