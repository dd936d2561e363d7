-- Booked rows are permanent: rows of money are never deleted or truncated, and their final columns never change.
--
-- The triggers fire for every role, including the tables' owner and superusers. Only the owner can disable them, which
-- is why production connects as a role that owns nothing (docs/operations.md), and the audit checks that each trigger
-- is enabled.
--
-- There is one trigger per table, on statements, not on rows: a statement that deletes from the table, or updates a
-- permanent column, is refused whatever rows it matches, and any other costs almost nothing. PostgreSQL copies every
-- trigger of a table for every statement that writes to it, and a row trigger also reads and locks each row again:
-- three of those made a hold and a settlement 15 % slower.
CREATE OR REPLACE FUNCTION billing_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% rows are never changed or deleted', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

-- Rows of old months may only move to their monthly tables (months.sql). These triggers come first: an upgrade must not
-- drop the refusal of every DELETE before they exist.
CREATE OR REPLACE TRIGGER reservation_only_moves AFTER DELETE ON billing_reservation
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION billing_only_moves();
CREATE OR REPLACE TRIGGER usage_record_only_moves AFTER DELETE ON billing_usage_record
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION billing_only_moves();
CREATE OR REPLACE TRIGGER transfer_only_moves AFTER DELETE ON billing_transfer
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION billing_only_moves();

CREATE OR REPLACE TRIGGER transfer_stays BEFORE UPDATE OR TRUNCATE ON billing_transfer
  FOR EACH STATEMENT EXECUTE FUNCTION billing_refuse_change();
CREATE OR REPLACE TRIGGER usage_record_stays BEFORE UPDATE OR TRUNCATE ON billing_usage_record
  FOR EACH STATEMENT EXECUTE FUNCTION billing_refuse_change();
CREATE OR REPLACE TRIGGER loss_stays BEFORE DELETE OR UPDATE OR TRUNCATE ON billing_loss
  FOR EACH STATEMENT EXECUTE FUNCTION billing_refuse_change();
CREATE OR REPLACE TRIGGER price_version_stays BEFORE DELETE OR UPDATE OR TRUNCATE ON billing_price_version
  FOR EACH STATEMENT EXECUTE FUNCTION billing_refuse_change();
CREATE OR REPLACE TRIGGER cost_version_stays BEFORE DELETE OR UPDATE OR TRUNCATE ON billing_cost_version
  FOR EACH STATEMENT EXECUTE FUNCTION billing_refuse_change();
CREATE OR REPLACE TRIGGER ledger_month_stays BEFORE DELETE OR UPDATE OR TRUNCATE ON billing_ledger_month
  FOR EACH STATEMENT EXECUTE FUNCTION billing_refuse_change();
CREATE OR REPLACE TRIGGER takeover_stays BEFORE DELETE OR UPDATE OR TRUNCATE ON billing_takeover
  FOR EACH STATEMENT EXECUTE FUNCTION billing_refuse_change();
CREATE OR REPLACE TRIGGER seal_stays BEFORE DELETE OR UPDATE OR TRUNCATE ON billing_seal
  FOR EACH STATEMENT EXECUTE FUNCTION billing_refuse_change();
CREATE OR REPLACE TRIGGER budget_stays BEFORE DELETE OR TRUNCATE ON billing_budget
  FOR EACH STATEMENT EXECUTE FUNCTION billing_refuse_change();
CREATE OR REPLACE TRIGGER checkout_stays BEFORE DELETE OR TRUNCATE ON billing_checkout
  FOR EACH STATEMENT EXECUTE FUNCTION billing_refuse_change();
CREATE OR REPLACE TRIGGER wallet_stays
  BEFORE DELETE OR UPDATE OF id, owner_kind, owner_key, created_at OR TRUNCATE ON billing_wallet
  FOR EACH STATEMENT EXECUTE FUNCTION billing_refuse_change();
CREATE OR REPLACE TRIGGER lot_stays
  BEFORE DELETE OR UPDATE OF id, wallet_id, product, granted_microusd, expires_at, source_kind, source_key,
    created_at OR TRUNCATE
  ON billing_credit_lot FOR EACH STATEMENT EXECUTE FUNCTION billing_refuse_change();
CREATE OR REPLACE TRIGGER reservation_stays
  BEFORE UPDATE OF id, wallet_id, actor_did, org_id, membership_id, product, client_id, route,
    model, request_id, idempotency_key, request_digest, body_sha256, max_cost_microusd, hold_microusd, cash_held_microusd, lot_ids,
    lot_amounts_microusd, price_version_id, created_at, token_scopes, is_concurrency_limited OR TRUNCATE
  ON billing_reservation FOR EACH STATEMENT EXECUTE FUNCTION billing_refuse_change();
CREATE OR REPLACE TRIGGER invoice_stays
  BEFORE DELETE OR UPDATE OF id, org_id, period_start, period_end, total_microusd, due_microusd, created_at OR TRUNCATE
  ON billing_invoice FOR EACH STATEMENT EXECUTE FUNCTION billing_refuse_change();
CREATE OR REPLACE TRIGGER invoice_line_stays BEFORE DELETE OR UPDATE OR TRUNCATE ON billing_invoice_line
  FOR EACH STATEMENT EXECUTE FUNCTION billing_refuse_change();
CREATE OR REPLACE TRIGGER invoice_payment_stays
  BEFORE DELETE OR UPDATE OF id, invoice_id, amount_microusd, provider, is_live, customer_ref, method_ref, requested_by,
    created_at OR TRUNCATE
  ON billing_invoice_payment FOR EACH STATEMENT EXECUTE FUNCTION billing_refuse_change();
CREATE OR REPLACE TRIGGER credit_note_stays BEFORE DELETE OR UPDATE OR TRUNCATE ON billing_credit_note
  FOR EACH STATEMENT EXECUTE FUNCTION billing_refuse_change();
CREATE OR REPLACE TRIGGER provider_movement_stays BEFORE DELETE OR UPDATE OR TRUNCATE ON billing_provider_movement
  FOR EACH STATEMENT EXECUTE FUNCTION billing_refuse_change();
CREATE OR REPLACE TRIGGER matched_day_stays
  BEFORE DELETE OR UPDATE OF id, provider, is_live, day, reading, movements, read_at OR TRUNCATE ON billing_matched_day
  FOR EACH STATEMENT EXECUTE FUNCTION billing_refuse_change();
CREATE OR REPLACE TRIGGER payment_difference_stays BEFORE DELETE OR UPDATE OR TRUNCATE ON billing_payment_difference
  FOR EACH STATEMENT EXECUTE FUNCTION billing_refuse_change();
CREATE OR REPLACE TRIGGER difference_closing_stays BEFORE DELETE OR UPDATE OR TRUNCATE ON billing_difference_closing
  FOR EACH STATEMENT EXECUTE FUNCTION billing_refuse_change();
CREATE OR REPLACE TRIGGER lost_receipt_stays
  BEFORE DELETE OR UPDATE OF usage_id, owner_kind, owner_key, charge_microusd, delivered, found_at OR TRUNCATE
  ON billing_lost_receipt FOR EACH STATEMENT EXECUTE FUNCTION billing_refuse_change();
CREATE OR REPLACE TRIGGER seat_price_stays BEFORE DELETE OR UPDATE OR TRUNCATE ON billing_seat_price
  FOR EACH STATEMENT EXECUTE FUNCTION billing_refuse_change();


-- A checkout's owner never changes; once it is paid or completed, neither do the payment's amount, time and references.
CREATE OR REPLACE FUNCTION billing_checkout_only_goes_on() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.id, NEW.owner_kind, NEW.owner_key, NEW.kind, NEW.product, NEW.idempotency_key, NEW.requested_by, NEW.provider,
      NEW.created_at)
     IS DISTINCT FROM
     (OLD.id, OLD.owner_kind, OLD.owner_key, OLD.kind, OLD.product, OLD.idempotency_key, OLD.requested_by, OLD.provider,
      OLD.created_at)
     OR OLD.status IN ('paid', 'completed')
        AND (NEW.status, NEW.amount_microusd, NEW.paid_at, NEW.is_live, NEW.session_ref, NEW.payment_ref)
            IS DISTINCT FROM
            (OLD.status, OLD.amount_microusd, OLD.paid_at, OLD.is_live, OLD.session_ref, OLD.payment_ref)
  THEN
    RAISE EXCEPTION 'what billing_checkout % says is never changed', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER checkout_only_goes_on BEFORE UPDATE ON billing_checkout
  FOR EACH ROW EXECUTE FUNCTION billing_checkout_only_goes_on();
