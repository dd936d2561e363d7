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
