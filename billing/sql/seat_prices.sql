-- Records every seat price of the catalogue with its time, whoever sets it and by whatever statement.
CREATE OR REPLACE FUNCTION billing_date_seat_price() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  v_known bigint;
BEGIN
  SELECT p.price_microusd INTO v_known FROM billing_seat_price p WHERE p.product = NEW.slug
   ORDER BY p.effective_at DESC LIMIT 1;
  IF v_known IS DISTINCT FROM NEW.seat_price_microusd THEN
    INSERT INTO billing_seat_price (product, price_microusd, effective_at)
    VALUES (NEW.slug, NEW.seat_price_microusd, clock_timestamp());
  END IF;
  RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER product_price_is_dated BEFORE INSERT OR UPDATE ON accounts_product
  FOR EACH ROW EXECUTE FUNCTION billing_date_seat_price();
