"""Damage that shows in one place: a row changed, lost or added. The form is that of `forgeries`."""

from tests.billing.audit.forgeries import TRANSFER, Corruptions

DAMAGE: Corruptions = {
    "a closed account reactivated": (
        "closed_accounts_stay_closed",
        "UPDATE accounts_account SET is_active = true WHERE id = :closed",
    ),
    "a closed account with a name": (
        "closed_accounts_stay_closed",
        "UPDATE accounts_account SET display_name = 'Carla' WHERE id = :closed",
    ),
    "a closed account that was never erased": (
        "closed_accounts_stay_closed",
        "UPDATE accounts_closing SET closed_at = closed_at - interval '3 hours'",
    ),
    "an erased account with an address": (
        "closed_accounts_stay_closed",
        "UPDATE accounts_closing SET erased_at = now()",
        "INSERT INTO account_emailaddress (email, verified, \"primary\", user_id) VALUES ('carla@example.com', false, true, :closed)",
    ),
    "a closing undone": ("closed_accounts_stay_closed", "DELETE FROM accounts_closing"),
    "a credit kept for a closed account": (
        "closed_accounts_stay_closed",
        "DELETE FROM billing_transfer WHERE kind = 'forfeit' AND source = :forfeited_lot",
        "UPDATE billing_credit_lot SET remaining_microusd = granted_microusd, closed_at = NULL WHERE id = :forfeited_lot",
    ),
    "an automatic charge without a payment": (
        "auto_top_ups_match_checkouts",
        "INSERT INTO billing_auto_top_up_charge (id, wallet_id, amount_microusd, requested_by, status, provider, is_live, customer_ref, "
        "method_ref, payment_ref, created_at, begun_at, ended_at) VALUES ('txn_none', :purse_wallet, 1, 'a', 'succeeded', 'stripe', "
        "false, 'c', 'm', 'p', now(), now(), now())",
    ),
    "an automatic charge of another amount than its payment": (
        "auto_top_ups_match_checkouts",
        "INSERT INTO billing_auto_top_up_charge (id, wallet_id, amount_microusd, requested_by, status, provider, is_live, customer_ref, "
        "method_ref, payment_ref, created_at, begun_at, ended_at) SELECT c.id, w.id, c.amount_microusd + 1, 'a', 'succeeded', "
        "c.provider, c.is_live, 'c', 'm', coalesce(c.payment_ref, 'p'), now(), now(), now() FROM billing_checkout c "
        "JOIN billing_wallet w ON (w.owner_kind, w.owner_key) = (c.owner_kind, c.owner_key) WHERE c.status = 'paid' LIMIT 1",
    ),
    "a wallet that is topped up without terms": (
        "auto_top_ups_match_checkouts",
        "UPDATE billing_wallet SET top_up_below_microusd = 5 WHERE id = :purse_wallet",
    ),
    "a grant called given up": (
        "accounts_match_transfers",
        "UPDATE billing_transfer SET kind = 'forfeit' WHERE kind = 'grant' AND source = :lot",
    ),
    "a balance raised": (
        "accounts_match_transfers",
        "UPDATE billing_wallet SET balance_microusd = balance_microusd + 1 WHERE id = :purse_wallet",
    ),
    "a payment lost": (
        "accounts_match_transfers",
        "DELETE FROM billing_transfer WHERE kind = 'payment' AND credit_account LIKE 'wallet:%'",
    ),
    "a transfer to nobody": (
        "accounts_match_transfers",
        "UPDATE billing_transfer SET credit_account = 'wallet:wal_nobody' WHERE id = :payment_transfer",
    ),
    "a grant called a merge": (
        "merge_keeps_its_terms",
        "UPDATE billing_transfer SET kind = 'merge' WHERE kind = 'grant'",
    ),
    "a debt raised": (
        "accounts_match_transfers",
        "UPDATE billing_wallet SET debt_microusd = debt_microusd + 1 WHERE id = :purse_wallet",
    ),
    "a debt forgiven": (
        "accounts_match_transfers",
        "UPDATE billing_wallet SET debt_microusd = 0 WHERE owner_key = :indebted",
    ),
    "a credit spent by nobody": (
        "accounts_match_transfers",
        "UPDATE billing_credit_lot SET remaining_microusd = remaining_microusd - 1 WHERE id = :expiring_lot",
    ),
    "a credit raised": (
        "accounts_match_transfers",
        "UPDATE billing_credit_lot SET granted_microusd = granted_microusd + 1",
    ),
    "a credit lost": ("accounts_match_transfers", "DELETE FROM billing_credit_lot WHERE id = :lot"),
    "a grant raised": (
        "accounts_match_transfers",
        "UPDATE billing_transfer SET amount_microusd = amount_microusd + 1 WHERE kind = 'grant'",
    ),
    "a credit of a wallet that is not": (
        "credits_match_grants",
        "UPDATE billing_credit_lot SET wallet_id = 'wal_nobody' WHERE id = :expiring_lot",
    ),
    "an expiry too early": (
        "credits_match_grants",
        "UPDATE billing_credit_lot SET expires_at = expires_at + interval '1 day' WHERE id = :expired_lot",
    ),
    "held cash given back": (
        "wallet_holds_match_open_calls",
        "UPDATE billing_wallet SET held_microusd = held_microusd - 1 WHERE owner_key = 'org_acme'",
    ),
    "an open call lost": ("wallet_holds_match_open_calls", "DELETE FROM billing_reservation WHERE id = :open"),
    "an open call closed": (
        "wallet_holds_match_open_calls",
        "UPDATE billing_reservation SET state = 'released', closed_at = now(), replayable = false WHERE id = :open",
    ),
    "a credit's hold given back": (
        "credit_holds_match_open_calls",
        "UPDATE billing_credit_lot SET held_microusd = held_microusd - 1 WHERE held_microusd > 0",
    ),
    "a call holding more credit": (
        "credit_holds_match_open_calls",
        "UPDATE billing_reservation SET lot_amounts_microusd[1] = lot_amounts_microusd[1] + 1 WHERE id = :holding_lot",
    ),
    "a call holding no credit of its wallet": (
        "nothing_is_orphaned",
        "UPDATE billing_reservation SET lot_ids[1] = 'crd_nobody' WHERE id = :settled",
    ),
    "a takeover of a call that is not": (
        "nothing_is_orphaned",
        "INSERT INTO billing_takeover (reservation_id, model, price_version_id) VALUES ('use_nobody', 'fast', 1)",
    ),
    "a takeover at another model's price": (
        "charges_match_usage_and_price",
        "INSERT INTO billing_takeover (reservation_id, model, price_version_id)"
        " SELECT r.id, 'other', r.price_version_id FROM billing_reservation r WHERE r.id = :paid",
    ),
    "a budget of a wallet that is not": ("nothing_is_orphaned", "UPDATE billing_budget SET wallet_id = 'wal_nobody'"),
    "a budget's hold raised": (
        "budgets_match_calls",
        "UPDATE billing_budget SET held_microusd = held_microusd + 1",
    ),
    "a budget's month forgotten": ("budgets_match_calls", "UPDATE billing_budget SET spent_microusd = 0"),
    "a budget whose month is yet to come": (
        "budgets_match_calls",
        "UPDATE billing_budget SET spent_microusd = 0, period_start = (period_start + interval '1 year')::date"
        " WHERE id = :budget",
    ),
    "a budget's week that begins on a Tuesday": (
        "budgets_match_calls",
        "UPDATE billing_budget SET period_start = period_start - 6 WHERE id = :week_budget",
    ),
    "a budget's week forgotten": (
        "budgets_match_calls",
        "UPDATE billing_budget SET spent_microusd = 0 WHERE id = :week_budget",
    ),
    "a budget of a period that is not": (
        "budgets_match_calls",
        "UPDATE billing_budget SET period = 'decade' WHERE id = :budget",
    ),
    "an override without an end": (
        "budgets_match_calls",
        "UPDATE billing_budget SET override_until = NULL WHERE id = :week_budget",
    ),
    "an override without a limit": (
        "budgets_match_calls",
        "UPDATE billing_budget SET override_limit_microusd = NULL WHERE id = :week_budget",
    ),
    "an override below nothing": (
        "budgets_match_calls",
        "UPDATE billing_budget SET override_limit_microusd = -1 WHERE id = :week_budget",
    ),
    "a wallet whose next alert is forgotten": (
        "alerts_match_worth",
        "UPDATE billing_wallet SET alert_below_microusd = NULL",
    ),
    "a wallet whose budgets are not looked for": (
        "budgets_match_calls",
        "UPDATE billing_wallet SET has_budgets = false",
    ),
    "an organization's budget called a person's": (
        "budgets_match_calls",
        "UPDATE billing_budget SET scope = 'account' WHERE id = :budget",
    ),
    "a person's budget for an app called the organization's": (
        "budgets_match_calls",
        "UPDATE billing_budget SET scope = 'org' WHERE id = :client_budget",
    ),
    "a budget that counts another app": (
        "budgets_match_calls",
        "UPDATE billing_budget SET client_id = 'https://other.example' WHERE id = :client_budget",
    ),
    "a call of another app": (
        "budgets_match_calls",
        "UPDATE billing_reservation SET client_id = NULL WHERE id = :open_of_app",
    ),
    "a call taken out of a budget's month": (
        "budgets_match_calls",
        "UPDATE billing_reservation SET closed_at = closed_at - interval '40 days' WHERE id = :paid_by_org",
    ),
    "a hold that is not its parts": (
        "charges_match_usage_and_price",
        "UPDATE billing_reservation SET cash_held_microusd = cash_held_microusd - 1 WHERE id = :paid",
    ),
    "credits of a call forgotten": (
        "charges_match_usage_and_price",
        "UPDATE billing_reservation SET lot_ids = NULL, lot_amounts_microusd = NULL WHERE id = :settled",
    ),
    "written tokens lowered": (
        "charges_match_usage_and_price",
        "UPDATE billing_usage_record SET cache_write_tokens = 4 WHERE reservation_id = :written",
    ),
    "an hour's writes that are more than all writes": (
        "charges_match_usage_and_price",
        "UPDATE billing_usage_record SET cache_write_1h_tokens = 6 WHERE reservation_id = :written",
    ),
    "a band forgotten": (
        "charges_match_usage_and_price",
        "UPDATE billing_usage_record SET price_band = NULL WHERE reservation_id = :written",
    ),
    "a band that the price has not": (
        "charges_match_usage_and_price",
        "UPDATE billing_usage_record SET price_band = 4 WHERE reservation_id = :written",
    ),
    "a band that the input does not reach": (
        "charges_match_usage_and_price",
        "UPDATE billing_usage_record SET price_band = 20 WHERE reservation_id = :written",
    ),
    "a service tier forgotten": (
        "charges_match_usage_and_price",
        "UPDATE billing_usage_record SET service_tier = NULL WHERE reservation_id = :flex",
    ),
    "a service tier that the price has not": (
        "charges_match_usage_and_price",
        "UPDATE billing_usage_record SET service_tier = 'priority' WHERE reservation_id = :flex",
    ),
    "a charge lowered in the call": (
        "charges_match_usage_and_price",
        "UPDATE billing_reservation SET charge_microusd = charge_microusd - 1 WHERE id = :paid",
    ),
    "a charge that no transfer paid": (
        "charges_match_usage_and_price",
        "DELETE FROM billing_transfer WHERE kind = 'charge' AND source = :paid",
    ),
    "a charge paid by another credit": (
        "charges_match_credits",
        "UPDATE billing_transfer SET debit_account = 'lot:crd_nobody' WHERE source = :settled AND seq = 1",
    ),
    "a charge of no call": (
        "charges_match_usage_and_price",
        f"{TRANSFER} VALUES ('charge', 'use_nobody', 0, 'wallet:' || :purse_wallet, 'platform:revenue', 1,"
        " :purse_wallet)",
    ),
    "a usage record lost": (
        "charges_match_usage_and_price",
        "DELETE FROM billing_usage_record WHERE reservation_id = :paid",
    ),
    "a usage record of an open call": (
        "charges_match_usage_and_price",
        "UPDATE billing_usage_record SET reservation_id = :open WHERE reservation_id = :paid",
    ),
    "more cached tokens than tokens": (
        "charges_match_usage_and_price",
        "UPDATE billing_usage_record SET cached_input_tokens = 31 WHERE reservation_id = :cached",
    ),
    "one cached token more": (
        "charges_match_usage_and_price",
        "UPDATE billing_usage_record SET cached_input_tokens = 30 WHERE reservation_id = :cached",
    ),
    "one picture more": (
        "charges_match_usage_and_price",
        "UPDATE billing_usage_record SET images = 3 WHERE reservation_id = :pictures",
    ),
    "a million characters more": (
        "charges_match_usage_and_price",
        "UPDATE billing_usage_record SET input_characters = 1900001 WHERE reservation_id = :speech",
    ),
    "prices that are not there": (
        "charges_match_usage_and_price",
        "UPDATE billing_reservation SET price_version_id = -1 WHERE id = :paid",
    ),
    "a price that nobody can read": (
        "price_is_readable",
        """UPDATE billing_price_version SET components = '{"input_token": "free"}' WHERE alias = 'cached'""",
    ),
    "a band that nobody can read": (
        "price_is_readable",
        """UPDATE billing_price_version SET components = jsonb_set(components, '{bands,1,output_token}', '20') WHERE alias = 'long'""",
    ),
    "a band that is no map": (
        "price_is_readable",
        """UPDATE billing_price_version SET components = jsonb_set(components, '{bands,1}', '"20"') WHERE alias = 'long'""",
    ),
    "bands out of order": (
        "price_is_readable",
        """UPDATE billing_price_version SET components = jsonb_set(components, '{bands,1,above_input_tokens}', '5') WHERE alias = 'long'""",
    ),
    "a band without a threshold": (
        "price_is_readable",
        """UPDATE billing_price_version SET components = components #- '{service_tiers,flex,bands,0,above_input_tokens}' WHERE alias = 'long'""",
    ),
    "a service tier that nobody can read": (
        "price_is_readable",
        """UPDATE billing_price_version SET components = jsonb_set(components, '{service_tiers,flex,input_token}', '"free"') WHERE alias = 'long'""",
    ),
    "service tiers that are none": (
        "price_is_readable",
        """UPDATE billing_price_version SET components = jsonb_set(components, '{service_tiers}', '"flex"') WHERE alias = 'long'""",
    ),
    "bands that are none": (
        "price_is_readable",
        """UPDATE billing_price_version SET components = jsonb_set(components, '{bands}', '"5"') WHERE alias = 'long'""",
    ),
    "prices that are none": ("price_is_readable", """UPDATE billing_price_version SET components = '["free"]'"""),
    "a cost lowered": (
        "charges_match_usage_and_price",
        "UPDATE billing_usage_record SET cost_microusd = cost_microusd - 1 WHERE reservation_id = :costed",
    ),
    "a cost of the band below": (
        "charges_match_usage_and_price",
        "UPDATE billing_usage_record SET cost_microusd = 104 WHERE reservation_id = :costed_in_band",
    ),
    "a cost of another deployment": (
        "charges_match_usage_and_price",
        "UPDATE billing_usage_record SET cost_version_id = :other_cost WHERE reservation_id = :costed",
    ),
    "a cost at no version": (
        "charges_match_usage_and_price",
        "UPDATE billing_usage_record SET cost_version_id = -1 WHERE reservation_id = :costed",
    ),
    "a cost half forgotten": (
        "charges_match_usage_and_price",
        "UPDATE billing_usage_record SET cost_version_id = NULL WHERE reservation_id = :costed",
    ),
    "a cost wholly forgotten": (
        "seals_match",
        "UPDATE billing_usage_record SET cost_microusd = NULL, cost_version_id = NULL WHERE reservation_id = :costed",
    ),
    "a cost rewritten": (
        "charges_match_usage_and_price",
        """UPDATE billing_cost_version SET components = '{"input_token": "2"}' WHERE id = :cost""",
    ),
    "a cost dated later than its call": (
        "charges_match_usage_and_price",
        "UPDATE billing_cost_version SET effective_at = effective_at + interval '1 hour' WHERE id = :cost",
    ),
    "a cost that nobody can read": (
        "price_is_readable",
        """UPDATE billing_cost_version SET components = components || '{"bands": [{"input_token": "1"}]}'"""
        """ || '{"service_tiers": {"flex": {"input_token": 1}}}' WHERE deployment = 'costed-too'""",
    ),
    "a payment twice": (
        "payments_match_checkouts",
        f"{TRANSFER} SELECT kind, source, 7, debit_account, credit_account, amount_microusd, wallet_id"
        " FROM billing_transfer WHERE id = :payment_transfer",
    ),
    "a checkout's amount lowered": (
        "payments_match_checkouts",
        "UPDATE billing_checkout SET amount_microusd = 499999 WHERE id = :checkout",
    ),
    "a checkout of somebody else": (
        "payments_match_checkouts",
        "UPDATE billing_checkout SET owner_key = 'did:web:somebody.example' WHERE id = :checkout",
    ),
    "a checkout that is open again": (
        "payments_match_checkouts",
        "UPDATE billing_checkout SET status = 'open', paid_at = NULL, taken_back_microusd = 0 WHERE id = :checkout",
    ),
    "a refund lowered": (
        "payments_match_checkouts",
        "UPDATE billing_checkout SET taken_back_microusd = 199 WHERE id = :checkout",
    ),
    "a refund lost": (
        "payments_match_checkouts",
        "DELETE FROM billing_transfer WHERE kind = 'refund' AND source = :checkout || '/1'",
    ),
    "a key used twice in a day": (
        "key_is_kept_for_a_day",
        "UPDATE billing_reservation SET replayable = false, closed_at = closed_at - interval '25 hours',"
        " created_at = created_at - interval '26 hours' WHERE id = :settled",
        "UPDATE billing_reservation SET idempotency_key = 'a', created_at = created_at - interval '2 hours'"
        " WHERE id = :again",
    ),
    "a stored answer without an end": (
        "replay_belongs_to_its_call",
        "UPDATE billing_stored_replay SET expires_at = NULL WHERE reservation_id = :settled",
    ),
    "a stored answer given out before its charge": (
        "replay_belongs_to_its_call",
        "UPDATE billing_stored_replay SET expires_at = now() WHERE reservation_id = :reviewed",
    ),
    "a stored answer that states another charge": (
        "replay_belongs_to_its_call",
        """UPDATE billing_stored_replay SET headers = '{"encrypted": [["x-service-charge-microusd", "1"]]}'"""
        " WHERE reservation_id = :settled",
    ),
    "a stored answer of nobody": (
        "replay_belongs_to_its_call",
        "UPDATE billing_stored_replay SET reservation_id = 'use_nobody' WHERE reservation_id = :settled",
    ),
    "an overrun that nobody booked": ("losses_match_calls", "DELETE FROM billing_loss WHERE kind = 'overrun'"),
    "a loss raised": (
        "losses_match_calls",
        "UPDATE billing_loss SET amount_microusd = amount_microusd + 1 WHERE kind = 'unresolved'",
    ),
    "a state that is none": (
        "charges_match_usage_and_price",
        "UPDATE billing_reservation SET state = 'reserved' WHERE id = :open",
    ),
    "a call past its deadline": (
        "nothing_is_stale",
        "UPDATE billing_reservation SET deadline_at = now() - interval '1 hour' WHERE id = :open",
    ),
    "a call without a deadline": (
        "nothing_is_stale",
        "UPDATE billing_reservation SET deadline_at = NULL WHERE id = :open",
    ),
    "a review of a call that was not sent": (
        "nothing_is_stale",
        "UPDATE billing_reservation SET dispatched_at = NULL WHERE id = :reviewed",
    ),
    "a review for no reason": (
        "charges_match_usage_and_price",
        "UPDATE billing_reservation SET review_reason = NULL WHERE id = :reviewed",
    ),
    "evidence of more than the hold": (
        "charges_match_usage_and_price",
        """UPDATE billing_reservation SET evidence = '{"charge_microusd": 51}' WHERE id = :reviewed""",
    ),
    "a review without an end": (
        "nothing_is_stale",
        "UPDATE billing_reservation SET dispatched_at = now() - interval '80 hours' WHERE id = :reviewed",
    ),
    "an expired credit that is still there": (
        "nothing_is_stale",
        "UPDATE billing_credit_lot SET expires_at = now() - interval '2 hours' WHERE id = :expiring_lot",
    ),
    "an invoice lowered": (
        "invoices_match_lines",
        "UPDATE billing_invoice SET total_microusd = 19999999, due_microusd = 19990000 WHERE id = :paid_invoice",
    ),
    "a line raised with its invoice": (
        "invoices_match_lines",
        "UPDATE billing_invoice_line SET amount_microusd = 20010000 WHERE invoice_id = :draft_invoice",
        "UPDATE billing_invoice SET total_microusd = 20010000, due_microusd = 20010000 WHERE id = :draft_invoice",
    ),
    "a line lost": ("invoices_match_lines", "DELETE FROM billing_invoice_line WHERE invoice_id = :past_due_invoice"),
    "an invoice lost": (
        "invoice_numbers_have_no_gaps",
        "DELETE FROM billing_invoice_line WHERE invoice_id = :past_due_invoice",
        "DELETE FROM billing_invoice_payment WHERE invoice_id = :past_due_invoice",
        "DELETE FROM billing_invoice WHERE id = :past_due_invoice",
    ),
    "cents due that are not charged": (
        "invoices_match_lines",
        "UPDATE billing_invoice SET due_microusd = 300000 WHERE id = :small_invoice",
    ),
    "another month": (
        "invoices_match_lines",
        "UPDATE billing_invoice SET period_start = period_start + interval '1 day' WHERE id = :draft_invoice",
    ),
    "an invoice paid by nobody": (
        "invoice_is_paid_once",
        "UPDATE billing_invoice SET status = 'paid', paid_at = now(), next_attempt_at = NULL"
        " WHERE id = :past_due_invoice",
    ),
    "a payment of an invoice lost": (
        "invoice_is_paid_once",
        "DELETE FROM billing_invoice_payment WHERE invoice_id = :paid_invoice",
    ),
    "a paid invoice opened again": (
        "invoice_is_paid_once",
        "UPDATE billing_invoice SET status = 'open', paid_at = NULL WHERE id = :paid_invoice",
    ),
    "a credit note raised": ("invoice_is_paid_once", "UPDATE billing_credit_note SET amount_microusd = 1000001"),
    "more credited than was paid": (
        "invoice_is_paid_once",
        "UPDATE billing_credit_note SET amount_microusd = 20010000",
    ),
    "a credit called a refund": (
        "invoice_is_paid_once",
        "UPDATE billing_credit_note SET is_refund = true WHERE NOT is_refund",
    ),
    "a refund called a credit": (
        "invoice_is_paid_once",
        "UPDATE billing_credit_note SET is_refund = false WHERE is_refund",
    ),
    "a refund of less than a cent": (
        "invoice_is_paid_once",
        "UPDATE billing_credit_note SET amount_microusd = 1999999 WHERE is_refund",
    ),
    "a credit note lost": ("invoice_is_paid_once", "DELETE FROM billing_credit_note"),
    "a number left out": (
        "invoice_numbers_have_no_gaps",
        "UPDATE billing_invoice SET serial = 4 WHERE id = :small_invoice",
    ),
    "a number taken from an invoice": (
        "invoice_numbers_have_no_gaps",
        "UPDATE billing_invoice SET serial = NULL, issued_at = NULL, status = 'draft', next_attempt_at = NULL"
        " WHERE id = :past_due_invoice",
    ),
    "the first credit note left out": (
        "invoice_numbers_have_no_gaps",
        "UPDATE billing_credit_note SET serial = 3 WHERE serial = 1",
    ),
}
