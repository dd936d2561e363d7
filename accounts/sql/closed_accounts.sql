-- A closed account stays closed: nobody reactivates it, not even an operator or a process of an older version, and nothing
-- personal comes back into its row. SQLSTATE restrict_violation.
CREATE OR REPLACE FUNCTION accounts_stays_closed() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF (NEW.is_active OR NEW.suspended_at IS NULL OR NEW.email IS NOT NULL OR NEW.display_name <> '' OR NEW.is_staff
        OR NEW.is_superuser OR NEW.did <> OLD.did)
       AND EXISTS (SELECT FROM accounts_closing c WHERE c.account_id = OLD.id)
    THEN
        RAISE EXCEPTION 'the account % is closed', OLD.did USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION accounts_closing_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.account_id = OLD.account_id AND NEW.closed_at = OLD.closed_at AND OLD.erased_at IS NULL THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'a closing is never undone' USING ERRCODE = 'restrict_violation';
END $$;

CREATE OR REPLACE TRIGGER account_stays_closed BEFORE UPDATE ON accounts_account
    FOR EACH ROW EXECUTE FUNCTION accounts_stays_closed();
CREATE OR REPLACE TRIGGER closing_stays BEFORE DELETE OR UPDATE ON accounts_closing
    FOR EACH ROW EXECUTE FUNCTION accounts_closing_stays();
