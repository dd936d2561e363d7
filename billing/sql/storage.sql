-- How the hot tables are stored, and what may never be changed in the ledger.
--
-- Room on each page lets an update stay on it without touching an index (heap-only); frequent small vacuums keep a
-- row that is updated a thousand times a second cheap to find.
ALTER TABLE billing_wallet SET (
  fillfactor = 30, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0);
ALTER TABLE billing_budget SET (
  fillfactor = 30, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0);
ALTER TABLE billing_credit_lot SET (
  fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE billing_reservation SET (
  fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);

-- Answers are kept for a day and are mostly text that was compressed or encoded before: not worth compressing again.
ALTER TABLE billing_stored_replay ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE OR REPLACE FUNCTION billing_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% rows are never changed or deleted', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

CREATE OR REPLACE TRIGGER transfer_append_only BEFORE UPDATE OR DELETE ON billing_transfer
  FOR EACH ROW EXECUTE FUNCTION billing_refuse_change();
CREATE OR REPLACE TRIGGER usage_record_append_only BEFORE UPDATE OR DELETE ON billing_usage_record
  FOR EACH ROW EXECUTE FUNCTION billing_refuse_change();
CREATE OR REPLACE TRIGGER loss_append_only BEFORE UPDATE OR DELETE ON billing_loss
  FOR EACH ROW EXECUTE FUNCTION billing_refuse_change();
CREATE OR REPLACE TRIGGER price_version_append_only BEFORE UPDATE OR DELETE ON billing_price_version
  FOR EACH ROW EXECUTE FUNCTION billing_refuse_change();
CREATE OR REPLACE TRIGGER wallet_not_deleted BEFORE DELETE ON billing_wallet
  FOR EACH ROW EXECUTE FUNCTION billing_refuse_change();
CREATE OR REPLACE TRIGGER lot_not_deleted BEFORE DELETE ON billing_credit_lot
  FOR EACH ROW EXECUTE FUNCTION billing_refuse_change();
CREATE OR REPLACE TRIGGER reservation_not_deleted BEFORE DELETE ON billing_reservation
  FOR EACH ROW EXECUTE FUNCTION billing_refuse_change();

-- What a reservation may say; see billing.models.reservation for why it is one check.
CREATE OR REPLACE FUNCTION billing_reservation_is_sound(
  p_state text, p_max_cost bigint, p_hold bigint, p_cash bigint, p_charge bigint, p_overrun bigint,
  p_dispatched_at timestamptz, p_deadline_at timestamptz, p_closed_at timestamptz, p_replayable boolean,
  p_has_key boolean)
RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN coalesce(
    p_hold BETWEEN 0 AND p_max_cost AND p_cash BETWEEN 0 AND p_hold
    AND (NOT p_replayable OR (p_has_key AND p_state <> 'released'))
    AND CASE p_state
      WHEN 'reserved' THEN p_closed_at IS NULL AND p_charge IS NULL AND p_overrun = 0
      WHEN 'dispatched' THEN p_closed_at IS NULL AND p_charge IS NULL AND p_overrun = 0
        AND p_dispatched_at IS NOT NULL AND p_deadline_at IS NOT NULL
      WHEN 'review' THEN p_closed_at IS NULL AND p_charge IS NULL AND p_overrun = 0
        AND p_dispatched_at IS NOT NULL AND p_deadline_at IS NOT NULL
      WHEN 'settled' THEN p_closed_at IS NOT NULL AND p_charge BETWEEN 0 AND p_hold
        AND p_overrun >= 0 AND (p_overrun = 0 OR p_charge = p_hold)
      WHEN 'released' THEN p_closed_at IS NOT NULL AND p_charge IS NULL AND p_overrun = 0
      ELSE false
    END, false);
END $$;

ALTER TABLE billing_reservation DROP CONSTRAINT IF EXISTS reservation_is_sound;
ALTER TABLE billing_reservation ADD CONSTRAINT reservation_is_sound CHECK (billing_reservation_is_sound(
  state, max_cost_microusd, hold_microusd, cash_held_microusd, charge_microusd, overrun_microusd, dispatched_at,
  deadline_at, closed_at, replayable, idempotency_key IS NOT NULL AND request_digest IS NOT NULL));
