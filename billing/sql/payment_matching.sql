-- Rows of the match with the provider's balance are dated by the database's clock, which seals rely on (seals.sql): a
-- run dates its findings by its start, and the provider dates movements by its own clock.
CREATE OR REPLACE FUNCTION billing_set_recorded_at() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.recorded_at := clock_timestamp();
  RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER provider_movement_recorded BEFORE INSERT ON billing_provider_movement
  FOR EACH ROW EXECUTE FUNCTION billing_set_recorded_at();
CREATE OR REPLACE TRIGGER payment_difference_recorded BEFORE INSERT ON billing_payment_difference
  FOR EACH ROW EXECUTE FUNCTION billing_set_recorded_at();
CREATE OR REPLACE TRIGGER difference_closing_recorded BEFORE INSERT ON billing_difference_closing
  FOR EACH ROW EXECUTE FUNCTION billing_set_recorded_at();


-- A day that was read is matched once, and the same row is never read or matched again.
CREATE OR REPLACE FUNCTION billing_matched_day_only_goes_on() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND (OLD.matched_at IS NOT NULL OR NEW.matched_at IS NULL) THEN
    RAISE EXCEPTION 'what billing_matched_day % says is never changed', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  NEW.recorded_at := CASE WHEN NEW.matched_at IS NOT NULL THEN clock_timestamp() END;
  RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER matched_day_only_goes_on BEFORE INSERT OR UPDATE ON billing_matched_day
  FOR EACH ROW EXECUTE FUNCTION billing_matched_day_only_goes_on();
