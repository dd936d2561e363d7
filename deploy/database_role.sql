-- The role that the gateway connects as in production. It owns nothing, so it can neither disable the ledger's guards nor
-- change its tables, and it may only add to what is append-only.
--
-- Run as the owner of the database, who also runs `manage.py prepare`, after the first `prepare` and after each upgrade:
--   psql "$OWNER_DATABASE_URL" --set ON_ERROR_STOP=1 --file deploy/database_role.sql
--   psql "$OWNER_DATABASE_URL" --command "\password gateway_app"
--
-- The first run creates the role, for which the owner needs CREATEROLE. Without it, let a superuser create the role first:
--   CREATE ROLE gateway_app LOGIN;
--   \password gateway_app
--
-- One transaction: a gateway that is running never has more rights than at its end, nor fewer, and a run that fails changes nothing.
BEGIN;

DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'gateway_app') THEN
    CREATE ROLE gateway_app LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE;
  END IF;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE EXCEPTION 'the role gateway_app does not exist, and % may not create it', current_user
    USING HINT = 'As a superuser: CREATE ROLE gateway_app LOGIN; then run this again.';
END $$;

-- Whatever it was granted before, it has what follows. Databases that were made before PostgreSQL 15 let everybody create.
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
REVOKE ALL ON SCHEMA public FROM gateway_app;
REVOKE ALL ON ALL TABLES IN SCHEMA public FROM gateway_app;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM gateway_app;

GRANT USAGE ON SCHEMA public TO gateway_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO gateway_app;
GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO gateway_app;

REVOKE INSERT, UPDATE, DELETE ON django_migrations, billing_ledger_month FROM gateway_app;
-- Tables of old months: read by way of the tables that they inherit from, and written by the owner alone.
DO $$ DECLARE month regclass; BEGIN
  FOR month IN
    SELECT inhrelid FROM pg_inherits
     WHERE inhparent IN ('billing_reservation'::regclass, 'billing_usage_record'::regclass, 'billing_transfer'::regclass)
  LOOP
    EXECUTE format('REVOKE ALL ON %s FROM gateway_app', month);
  END LOOP;
END $$;
REVOKE UPDATE, DELETE ON
  billing_transfer, billing_usage_record, billing_loss, billing_price_version, billing_cost_version, billing_seal,
  billing_takeover, billing_invoice_line,
  billing_provider_movement, billing_payment_difference, billing_difference_closing,
  billing_credit_note, billing_seat_price, organizations_auditentry
  FROM gateway_app;
REVOKE DELETE ON
  billing_wallet, billing_budget, billing_credit_lot, billing_reservation, billing_checkout, billing_invoice,
  billing_invoice_payment, billing_matched_day, billing_lost_receipt
  FROM gateway_app;

COMMIT;
