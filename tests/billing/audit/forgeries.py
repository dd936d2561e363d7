"""How a ledger can be forged, consistently where a clever forger would.

What was done, the invariant that must name it, and the statements, run with all guards passed by. `:name` is a row of
`tests.factories.ledger`.
"""

Corruptions = dict[str, tuple[str, ...]]

ONLY_A_SEAL_KNOWS = "seals_match"
TRANSFER = "INSERT INTO billing_transfer (kind, source, seq, debit_account, credit_account, amount_microusd, wallet_id)"
CHEAPER = (
    "UPDATE billing_reservation SET charge_microusd = 140 WHERE id = :paid",
    "UPDATE billing_usage_record SET charge_microusd = 140 WHERE reservation_id = :paid",
    "UPDATE billing_transfer SET amount_microusd = 140 WHERE source = :paid",
    "UPDATE billing_wallet SET balance_microusd = balance_microusd + 200 WHERE id = :purse_wallet",
)
ERASED = (
    "DELETE FROM billing_reservation WHERE id = :paid",
    "DELETE FROM billing_usage_record WHERE reservation_id = :paid",
    "DELETE FROM billing_transfer WHERE source = :paid",
    "UPDATE billing_wallet SET balance_microusd = balance_microusd + 340 WHERE id = :purse_wallet",
)

FORGERIES: Corruptions = {
    "a charge paid from another wallet": (
        "charges_match_usage_and_price",
        "UPDATE billing_transfer SET debit_account = 'wallet:' || :other_wallet, wallet_id = :other_wallet"
        " WHERE source = :paid",
        "UPDATE billing_wallet SET balance_microusd = balance_microusd - 340 WHERE id = :other_wallet",
        "UPDATE billing_wallet SET balance_microusd = balance_microusd + 340 WHERE id = :purse_wallet",
    ),
    "a payment invented without a checkout": (
        "payments_match_checkouts",
        f"{TRANSFER} VALUES ('payment', 'txn_nobody', 1, 'platform:payments', 'wallet:' || :purse_wallet, 1000,"
        " :purse_wallet)",
        "UPDATE billing_wallet SET balance_microusd = balance_microusd + 1000 WHERE id = :purse_wallet",
    ),
    "a charge lowered everywhere": ("charges_match_usage_and_price", *CHEAPER),
    "usage times ten": (
        "charges_match_usage_and_price",
        "UPDATE billing_usage_record SET input_tokens = input_tokens * 10 WHERE reservation_id = :paid",
    ),
    "days of use that say more than their calls": (
        "usage_days_match_calls",
        "SELECT billing_roll_up_usage(clock_timestamp(), interval '100 years')",
        "UPDATE billing_usage_day SET charged_microusd = charged_microusd + 1",
    ),
    "days of use that a call was left out of": (
        "usage_days_match_calls",
        "SELECT billing_roll_up_usage(clock_timestamp(), interval '100 years')",
        "UPDATE billing_usage_horizon SET calls = calls + 1",
    ),
    "days of use that say another app than their calls": (
        "usage_days_match_calls",
        "SELECT billing_roll_up_usage(clock_timestamp(), interval '100 years')",
        "UPDATE billing_usage_subject SET client_id = 'https://other.example'",
    ),
    "margins that say more than their calls": (
        "margin_days_match_calls",
        "SELECT billing_roll_up_usage(clock_timestamp(), interval '100 years')",
        "UPDATE billing_margin_day SET cost_microusd = cost_microusd + 1 WHERE deployment = 'costed'",
    ),
    "a day of margins forgotten": (
        "margin_days_match_calls",
        "SELECT billing_roll_up_usage(clock_timestamp(), interval '100 years')",
        "DELETE FROM billing_margin_day WHERE deployment = 'costed'",
    ),
    "a margin of the last calls changed": (
        "margin_days_match_calls",
        "SELECT billing_roll_up_usage(clock_timestamp(), interval '100 years')",
        "UPDATE billing_model_margin SET margins_microusd[1] = margins_microusd[1] + 1",
    ),
    "a price rewritten": (
        "charges_match_usage_and_price",
        """UPDATE billing_price_version SET components = '{"input_token": "0.30"}' WHERE id = :price""",
    ),
    "the price of a band rewritten": (
        "charges_match_usage_and_price",
        """UPDATE billing_price_version SET components = jsonb_set(components, '{bands,0,input_token}', '"4"')"""
        " WHERE alias = 'long'",
    ),
    "the threshold of a band rewritten": (
        "charges_match_usage_and_price",
        "UPDATE billing_price_version SET components = jsonb_set(components, '{bands,0,above_input_tokens}', '6')"
        " WHERE alias = 'long'",
    ),
    "a band taken out of a price": (
        "charges_match_usage_and_price",
        "UPDATE billing_price_version SET components = components - 'bands' WHERE alias = 'long'",
    ),
    "the price of a service tier rewritten": (
        "charges_match_usage_and_price",
        """UPDATE billing_price_version SET components = jsonb_set(components, '{service_tiers,flex,input_token}', '"2"')"""
        " WHERE alias = 'long'",
    ),
    "a hold above the stated maximum": (
        "charges_match_usage_and_price",
        "UPDATE billing_reservation SET max_cost_microusd = hold_microusd - 1 WHERE id = :open",
    ),
    "a closed credit with money in it": (
        "credits_match_grants",
        "UPDATE billing_credit_lot SET closed_at = now() WHERE id = :expiring_lot",
    ),
    "a credit moved to another wallet with its grant": (
        ONLY_A_SEAL_KNOWS,
        "UPDATE billing_credit_lot SET wallet_id = :other_wallet WHERE id = :expiring_lot",
        "UPDATE billing_transfer SET wallet_id = :other_wallet WHERE source = :expiring_lot",
    ),
    "a credit moved to another wallet": (
        "accounts_match_transfers",
        "UPDATE billing_credit_lot SET wallet_id = :other_wallet WHERE id = :expiring_lot",
    ),
    "a transfer moved to another wallet": (
        "accounts_match_transfers",
        "UPDATE billing_transfer SET wallet_id = :other_wallet WHERE id = :payment_transfer",
    ),
    "a key freed early": (
        "key_is_kept_for_a_day",
        "UPDATE billing_reservation SET replayable = false WHERE id = :settled",
    ),
    "a live credit's expiry forged": (
        ONLY_A_SEAL_KNOWS,
        "UPDATE billing_credit_lot SET expires_at = expires_at + interval '1 year' WHERE id = :expiring_lot",
    ),
    "a second grant of a credit": (
        "credits_match_grants",
        f"{TRANSFER} VALUES ('grant', :expiring_lot, 1, 'platform:grants', 'lot:' || :expiring_lot, 40, :purse_wallet)",
        "UPDATE billing_credit_lot SET granted_microusd = 80, remaining_microusd = 80 WHERE id = :expiring_lot",
    ),
    "a charge to the account of expired credits": (
        "charges_match_usage_and_price",
        "UPDATE billing_transfer SET credit_account = 'platform:expired' WHERE source = :paid",
    ),
    "a backdated charge": (
        "charges_match_usage_and_price",
        "UPDATE billing_transfer SET created_at = created_at - interval '40 days' WHERE source = :paid",
    ),
    "a charge backdated everywhere": (
        "dates_are_in_order",
        "UPDATE billing_transfer SET created_at = created_at - interval '40 days' WHERE source = :paid",
        "UPDATE billing_usage_record SET settled_at = settled_at - interval '40 days' WHERE reservation_id = :paid",
        "UPDATE billing_reservation SET closed_at = closed_at - interval '40 days' WHERE id = :paid",
    ),
    "a call erased whole": (ONLY_A_SEAL_KNOWS, *ERASED),
    "a released call erased": (ONLY_A_SEAL_KNOWS, "DELETE FROM billing_reservation WHERE id = :released"),
    "guards disabled": ("guards_are_intact", "ALTER TABLE billing_transfer DISABLE TRIGGER transfer_stays"),
    "all guards of a table disabled": ("guards_are_intact", "ALTER TABLE billing_reservation DISABLE TRIGGER ALL"),
    "answers that never expire": (
        "replay_belongs_to_its_call",
        "UPDATE billing_stored_replay SET expires_at = 'infinity' WHERE reservation_id = :settled",
    ),
    "an absurd deadline": (
        "nothing_is_stale",
        "UPDATE billing_reservation SET deadline_at = now() + interval '10 years' WHERE id = :open",
    ),
}

SCHEMES: Corruptions = {
    "usage, charge and ledger lowered together": (
        ONLY_A_SEAL_KNOWS,
        *CHEAPER,
        "UPDATE billing_usage_record SET input_tokens = 140 * 20 / 3 WHERE reservation_id = :paid",
    ),
    "a call moved to a cheaper price": (
        ONLY_A_SEAL_KNOWS,
        "INSERT INTO billing_price_version (id, alias, components) VALUES (-7, 'fast',"
        """ '{"input_token": "0.0617", "output_token": "0"}')""",
        "UPDATE billing_reservation SET price_version_id = -7 WHERE id = :paid",
        *CHEAPER,
    ),
    "a charge declared the operator's decision": (
        "charges_match_usage_and_price",
        *CHEAPER,
        "UPDATE billing_usage_record SET basis = 'operator' WHERE reservation_id = :paid",
    ),
    "a refund invented": (
        "payments_match_checkouts",
        f"{TRANSFER} VALUES ('refund', 'txn_nobody/1', 0, 'wallet:' || :purse_wallet, 'platform:payments', 100,"
        " :purse_wallet)",
        "UPDATE billing_wallet SET balance_microusd = balance_microusd - 100 WHERE id = :purse_wallet",
    ),
    "a loss concealed": ("losses_match_calls", "DELETE FROM billing_loss WHERE reservation_id = :lost"),
    "an overrun lowered everywhere": (
        "charges_match_usage_and_price",
        "UPDATE billing_reservation SET overrun_microusd = 10 WHERE id = :overrun",
        "UPDATE billing_loss SET amount_microusd = 10 WHERE reservation_id = :overrun",
    ),
    "a call held at a cheaper model's price": (
        "charges_match_usage_and_price",
        "UPDATE billing_reservation SET model = 'dearest' WHERE id = :paid",
    ),
    "a call billed to another organization": (
        "charges_match_usage_and_price",
        "UPDATE billing_reservation SET org_id = 'org_other' WHERE id = :paid_by_org",
    ),
    "a wallet given to somebody else": (
        ONLY_A_SEAL_KNOWS,
        "UPDATE billing_wallet SET owner_key = 'did:web:somebody.example' WHERE id = :other_wallet",
        "UPDATE billing_checkout SET owner_key = 'did:web:somebody.example' WHERE owner_key = :other",
    ),
    "money moved between customers": (
        "accounts_match_transfers",
        f"{TRANSFER} VALUES ('gift', 'gift_1', 0, 'wallet:' || :other_wallet, 'wallet:' || :purse_wallet, 100,"
        " :other_wallet)",
        "UPDATE billing_wallet SET balance_microusd = balance_microusd - 100 WHERE id = :other_wallet",
        "UPDATE billing_wallet SET balance_microusd = balance_microusd + 100 WHERE id = :purse_wallet",
    ),
    "a credit spent before the one that was held first": (
        "charges_match_credits",
        "UPDATE billing_transfer SET amount_microusd = amount_microusd - 1 WHERE source = :settled AND seq = 1",
        "UPDATE billing_transfer SET amount_microusd = amount_microusd + 1 WHERE source = :settled AND seq = 0",
    ),
    "a loss slipped in behind a seal": (
        ONLY_A_SEAL_KNOWS,
        "INSERT INTO billing_loss (reservation_id, kind, amount_microusd, created_at)"
        " SELECT :released, 'unresolved', 40, closed_at FROM billing_reservation WHERE id = :released",
    ),
    "another request slipped under a call": (
        ONLY_A_SEAL_KNOWS,
        "UPDATE billing_reservation SET body_sha256 = sha256('another') WHERE id = :paid",
    ),
    "a seal made to fit": (
        ONLY_A_SEAL_KNOWS,
        *ERASED,
        "UPDATE billing_seal s SET contents = (SELECT jsonb_object_agg(noun, said) FROM ("
        "  SELECT x.noun, jsonb_build_object('rows', count(*), 'digest', encode(sha256("
        "string_agg(x.digest, ''::bytea ORDER BY x.key COLLATE \"C\")), 'hex')) AS said"
        "    FROM billing_sealable x WHERE x.at >= s.begins_at AND x.at < s.ends_at GROUP BY x.noun) n)",
    ),
    "a call that the view of what is sealed leaves out": (
        ONLY_A_SEAL_KNOWS,
        "DO $$ BEGIN EXECUTE 'CREATE OR REPLACE VIEW billing_sealable AS SELECT * FROM ('"
        " || rtrim(pg_get_viewdef('billing_sealable'::regclass), ';') || ') x WHERE x.key <> ' || quote_literal(:open); END $$",
        "SELECT billing_release(:open), billing_release(:holding)",
        "SELECT billing_seal_until(clock_timestamp())",
    ),
    "a seal erased": (
        ONLY_A_SEAL_KNOWS,
        "DELETE FROM billing_seal WHERE id = 1",
    ),
    "a guard's function made to do nothing": (
        "guards_are_intact",
        "CREATE OR REPLACE FUNCTION billing_refuse_change() RETURNS trigger LANGUAGE plpgsql AS"
        " 'BEGIN RETURN coalesce(NEW, OLD); END'",
    ),
    "a guard's function with another line of the sources": (
        "guards_are_intact",
        "CREATE OR REPLACE FUNCTION billing_lock_call(p_usage_id text, p_wait boolean) RETURNS boolean LANGUAGE sql"
        " AS 'SELECT true'",
    ),
    "a guard's refusal emptied": (
        "guards_are_intact",
        "CREATE OR REPLACE FUNCTION billing_refuse_unsound(p_noun text) RETURNS void LANGUAGE sql AS ''",
    ),
    "settling that passes guards by": (
        "guards_are_intact",
        "ALTER FUNCTION billing_settle_in_batch SET session_replication_role = replica",
    ),
    "settling with its owner's rights": (
        "guards_are_intact",
        "ALTER FUNCTION billing_settle_in_batch SECURITY DEFINER",
    ),
    "a guard that reads others' tables": ("guards_are_intact", "ALTER FUNCTION billing_only_moves() RESET ALL"),
    "a guard of other columns": (
        "guards_are_intact",
        "CREATE OR REPLACE TRIGGER wallet_stays BEFORE DELETE OR UPDATE OF id, owner_kind, owner_key, debt_microusd"
        " OR TRUNCATE ON billing_wallet FOR EACH STATEMENT EXECUTE FUNCTION billing_refuse_change()",
    ),
    "a trigger that swallows losses": (
        "guards_are_intact",
        "CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
        "CREATE TRIGGER swallow BEFORE INSERT ON billing_loss FOR EACH ROW EXECUTE FUNCTION swallow()",
    ),
    "a guard dropped": ("guards_are_intact", "DROP TRIGGER reservation_stays ON billing_reservation"),
    "a guard that looks the other way": (
        "guards_are_intact",
        "CREATE OR REPLACE TRIGGER transfer_stays BEFORE UPDATE OR DELETE ON billing_transfer"
        " FOR EACH ROW WHEN (OLD.kind = 'none') EXECUTE FUNCTION billing_refuse_change()",
    ),
    "settling rewritten": (
        "guards_are_intact",
        "CREATE OR REPLACE FUNCTION billing_unwind_lots(p_call record, p_charge bigint, p_now timestamptz)"
        " RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RETURN 0; END'",
    ),
    "a month without its tables": (
        "months_are_intact",
        "INSERT INTO billing_ledger_month (month) VALUES ('2025-01-01')",
    ),
    "a table that slips transfers in": (
        "months_are_intact",
        "CREATE TABLE billing_more () INHERITS (billing_transfer)",
    ),
    "a unique index dropped": (
        "guards_are_intact",
        "ALTER TABLE billing_transfer DROP CONSTRAINT transfer_posted_once",
    ),
    "a unique index of other columns": (
        "guards_are_intact",
        "ALTER TABLE billing_transfer DROP CONSTRAINT transfer_posted_once",
        "CREATE UNIQUE INDEX transfer_posted_once ON billing_transfer (id)",
    ),
    "a unique index of other rows": (
        "guards_are_intact",
        "SET CONSTRAINTS ALL IMMEDIATE",
        "DROP INDEX reservation_one_per_key",
        "CREATE UNIQUE INDEX reservation_one_per_key ON billing_reservation (wallet_id, route, idempotency_key)"
        " WHERE NOT replayable",
    ),
    "a check dropped": (
        "guards_are_intact",
        "SET CONSTRAINTS ALL IMMEDIATE",
        "ALTER TABLE billing_loss DROP CONSTRAINT loss_amount_positive",
    ),
    "transfers that nobody sees": ("guards_are_intact", "ALTER TABLE billing_transfer ENABLE ROW LEVEL SECURITY"),
    "losses that are swallowed": (
        "guards_are_intact",
        "CREATE RULE swallow AS ON INSERT TO billing_loss DO INSTEAD NOTHING",
    ),
    "an invoice lowered with its line and its payment": (
        ONLY_A_SEAL_KNOWS,
        "UPDATE billing_invoice_line SET price_microusd = 19990000, amount_microusd = 19990000"
        " WHERE invoice_id = :paid_invoice",
        "UPDATE billing_invoice SET total_microusd = 19990000, due_microusd = 19990000 WHERE id = :paid_invoice",
        "UPDATE billing_invoice_payment SET amount_microusd = 19990000 WHERE invoice_id = :paid_invoice",
    ),
    "a line of an invoice for another product": (
        ONLY_A_SEAL_KNOWS,
        "UPDATE billing_invoice_line SET product = 'courier' WHERE invoice_id = :past_due_invoice",
    ),
    "an invoice given to somebody else": (
        ONLY_A_SEAL_KNOWS,
        "UPDATE billing_invoice SET org_id = 'org_other' WHERE id = :past_due_invoice",
    ),
    "the newest invoice erased whole": (
        ONLY_A_SEAL_KNOWS,
        "DELETE FROM billing_invoice_line WHERE invoice_id = :small_invoice",
        "DELETE FROM billing_invoice WHERE id = :small_invoice",
    ),
    "an invoice slipped in behind a seal": (
        ONLY_A_SEAL_KNOWS,
        "INSERT INTO billing_invoice (id, org_id, status, serial, period_start, period_end, total_microusd, due_microusd,"
        " issued_at, paid_at, issue_recorded_at, end_recorded_at)"
        " SELECT 'inv_x', 'org_x', status, 4, period_start, period_end, 0, 0, issued_at, paid_at, issue_recorded_at,"
        " end_recorded_at FROM billing_invoice WHERE id = :paid_invoice",
    ),
    "an invoice paid a month earlier": (
        ONLY_A_SEAL_KNOWS,
        "UPDATE billing_invoice SET paid_at = paid_at - interval '1 month' WHERE id = :paid_invoice",
    ),
    "an invoice's payment that another charge made": (
        ONLY_A_SEAL_KNOWS,
        "UPDATE billing_invoice_payment SET payment_ref = 'pi_other' WHERE invoice_id = :paid_invoice",
    ),
    "a refused payment erased": (
        ONLY_A_SEAL_KNOWS,
        "DELETE FROM billing_invoice_payment WHERE invoice_id = :past_due_invoice",
    ),
    "a refusal that gives another reason": (
        ONLY_A_SEAL_KNOWS,
        "UPDATE billing_invoice_payment SET failure_code = 'expired_card' WHERE invoice_id = :past_due_invoice",
    ),
    "a credit note that gives another reason": (
        ONLY_A_SEAL_KNOWS,
        "UPDATE billing_credit_note SET reason = 'Goodwill'",
    ),
    "a credit note erased with its credit": (
        ONLY_A_SEAL_KNOWS,
        "DELETE FROM billing_credit_note",
        "DELETE FROM billing_transfer WHERE source IN"
        " (SELECT id FROM billing_credit_lot WHERE source_kind = 'credit_note')",
        "DELETE FROM billing_credit_lot WHERE source_kind = 'credit_note'",
        "SELECT billing_watch_wallet(w.id, clock_timestamp()) FROM billing_wallet w",
    ),
    "a refund erased": (ONLY_A_SEAL_KNOWS, "DELETE FROM billing_credit_note WHERE is_refund"),
    "a credit that became a refund": (
        ONLY_A_SEAL_KNOWS,
        "UPDATE billing_credit_note SET is_refund = true WHERE NOT is_refund",
        "UPDATE billing_credit_lot SET source_kind = 'grant' WHERE source_kind = 'credit_note'",
    ),
    "an open difference erased": (
        ONLY_A_SEAL_KNOWS,
        "DELETE FROM billing_payment_difference d"
        " WHERE NOT EXISTS (SELECT FROM billing_difference_closing c WHERE c.difference_id = d.id)",
    ),
    "a difference erased with its closing": (
        ONLY_A_SEAL_KNOWS,
        "DELETE FROM billing_difference_closing WHERE closed_by IS NOT NULL",
        "DELETE FROM billing_payment_difference WHERE transaction_id LIKE 'txn_1%'",
    ),
    "a difference of less": (
        ONLY_A_SEAL_KNOWS,
        "UPDATE billing_payment_difference SET their_kept_microusd = 0 WHERE transaction_id LIKE 'txn_0%'",
    ),
    "a difference of another payment": (
        ONLY_A_SEAL_KNOWS,
        "UPDATE billing_payment_difference SET transaction_id = 'txn_9' WHERE transaction_id LIKE 'txn_0%'",
    ),
    "a difference slipped in behind a seal": (
        ONLY_A_SEAL_KNOWS,
        "INSERT INTO billing_payment_difference (provider, is_live, transaction_id, kind, their_paid_microusd,"
        " their_kept_microusd, our_paid_microusd, our_kept_microusd, found_at, recorded_at)"
        " SELECT provider, is_live, 'txn_9', kind, 1, 1, 0, 0, found_at, recorded_at FROM billing_payment_difference"
        " WHERE transaction_id LIKE 'txn_0%'",
    ),
    "a difference opened again": (
        ONLY_A_SEAL_KNOWS,
        "DELETE FROM billing_difference_closing WHERE closed_by IS NOT NULL",
    ),
    "a difference that the match closed, and nobody": (
        ONLY_A_SEAL_KNOWS,
        "UPDATE billing_difference_closing SET closed_by = NULL WHERE closed_by IS NOT NULL",
    ),
    "a difference closed for another reason": (
        ONLY_A_SEAL_KNOWS,
        "UPDATE billing_difference_closing SET reason = 'Refunded' WHERE closed_by IS NOT NULL",
    ),
    "a movement of the provider's balance erased": (
        ONLY_A_SEAL_KNOWS,
        "DELETE FROM billing_provider_movement WHERE transaction_id LIKE 'txn_0%'",
    ),
    "a movement of the provider's balance lowered": (
        ONLY_A_SEAL_KNOWS,
        "UPDATE billing_provider_movement SET amount_microusd = 1 WHERE transaction_id LIKE 'txn_0%'",
    ),
    "a day that was matched erased": (
        ONLY_A_SEAL_KNOWS,
        "DELETE FROM billing_matched_day WHERE matched_at IS NOT NULL",
    ),
    "a day that was matched with less in it": (
        ONLY_A_SEAL_KNOWS,
        "UPDATE billing_matched_day SET movements = 0 WHERE matched_at IS NOT NULL",
    ),
    "a role that passes guards by": (
        "guards_are_intact",
        "ALTER ROLE CURRENT_USER SET session_replication_role = replica",
    ),
}
