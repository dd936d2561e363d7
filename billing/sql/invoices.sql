-- An invoice's content is fixed as a draft. Only its status advances: issued, with the next number; paid, by a charge
-- of exactly the amount due; or void. The guards of guards.sql protect its rows; these check their content.
--
-- They also record when a row became final, by the database's clock, which seals rely on (seals.sql). The dates that a
-- job sets are those of its start, which may be long ago.
--
-- Functions that read other tables set their own search_path, so that no temporary table can replace one of those.

-- The next number follows the last one. The issuer holds the lock until the transaction ends, so that a number that was
-- rolled back is used again.
CREATE OR REPLACE FUNCTION billing_invoice_only_goes_on() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.status <> 'draft' THEN
      RAISE EXCEPTION 'billing_invoice % must begin as a draft', NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
    NEW.issue_recorded_at := NULL;
    NEW.end_recorded_at := NULL;
    RETURN NEW;
  END IF;
  IF OLD.status IN ('paid', 'void') OR OLD.serial IS NOT NULL
      AND (NEW.serial, NEW.issued_at) IS DISTINCT FROM (OLD.serial, OLD.issued_at)
      OR (OLD.status, NEW.status) IN (('open', 'draft'), ('past_due', 'draft'), ('past_due', 'open'))
  THEN
    RAISE EXCEPTION 'what billing_invoice % says is never changed', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF OLD.serial IS NULL AND NEW.serial IS NOT NULL THEN
    PERFORM pg_advisory_xact_lock(hashtextextended('numbers of invoices', 0));
    IF NEW.serial <> (SELECT coalesce(max(i.serial), 0) + 1 FROM billing_invoice i)
       OR NEW.total_microusd <> (SELECT coalesce(sum(l.amount_microusd), 0) FROM billing_invoice_line l
                                  WHERE l.invoice_id = NEW.id)
    THEN
      RAISE EXCEPTION 'billing_invoice % must have the next number, and lines that add up; a number is never changed', OLD.id
        USING ERRCODE = 'restrict_violation';
    END IF;
  END IF;
  IF NEW.status = 'paid' AND NEW.due_microusd > 0
     AND NOT EXISTS (SELECT FROM billing_invoice_payment p WHERE p.invoice_id = NEW.id AND p.status = 'succeeded'
                        AND p.amount_microusd = NEW.due_microusd)
  THEN
    RAISE EXCEPTION 'billing_invoice % is never paid without its payment', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  NEW.issue_recorded_at := CASE WHEN OLD.serial IS NULL AND NEW.serial IS NOT NULL THEN clock_timestamp()
                                ELSE OLD.issue_recorded_at END;
  NEW.end_recorded_at := CASE WHEN NEW.status IN ('paid', 'void') THEN clock_timestamp() END;
  RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER invoice_only_goes_on BEFORE INSERT OR UPDATE ON billing_invoice
  FOR EACH ROW EXECUTE FUNCTION billing_invoice_only_goes_on();


CREATE OR REPLACE FUNCTION billing_invoice_line_of_draft() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF (SELECT i.status FROM billing_invoice i WHERE i.id = NEW.invoice_id) IS DISTINCT FROM 'draft' THEN
    RAISE EXCEPTION 'what billing_invoice % says is never changed', NEW.invoice_id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER invoice_line_of_draft BEFORE INSERT ON billing_invoice_line
  FOR EACH ROW EXECUTE FUNCTION billing_invoice_line_of_draft();


CREATE OR REPLACE FUNCTION billing_invoice_payment_only_goes_on() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.status IN ('succeeded', 'failed')
     OR OLD.payment_ref IS NOT NULL AND NEW.payment_ref IS DISTINCT FROM OLD.payment_ref
     OR OLD.status <> 'creating' AND NEW.status = 'creating'
  THEN
    RAISE EXCEPTION 'what billing_invoice_payment % says is never changed', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  NEW.end_recorded_at := CASE WHEN NEW.status IN ('succeeded', 'failed') THEN clock_timestamp() END;
  RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER invoice_payment_only_goes_on BEFORE UPDATE ON billing_invoice_payment
  FOR EACH ROW EXECUTE FUNCTION billing_invoice_payment_only_goes_on();
