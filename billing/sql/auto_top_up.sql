-- billing_worth_of(p_wallet_id text, p_now timestamptz) RETURNS bigint
--
-- What a wallet is worth without its open holds: balance and the credits that have not expired, minus the debt.
CREATE OR REPLACE FUNCTION billing_worth_of(p_wallet_id text, p_now timestamptz) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT w.balance_microusd - w.debt_microusd
         + coalesce((SELECT sum(l.remaining_microusd) FROM billing_credit_lot l
                      WHERE l.wallet_id = w.id AND l.closed_at IS NULL
                        AND (l.expires_at IS NULL OR l.expires_at > p_now)), 0)::bigint
    FROM billing_wallet w WHERE w.id = p_wallet_id
$$;


-- billing_topped_up_in_month(p_wallet_id text, p_now timestamptz) RETURNS bigint
--
-- What automatic top-up charged in the UTC month of p_now, or may still charge in it: a charge that is under way counts, and
-- one that was begun in one month and ended in the next counts in both. Refunds do not count.
CREATE OR REPLACE FUNCTION billing_topped_up_in_month(p_wallet_id text, p_now timestamptz)
RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(c.amount_microusd), 0)::bigint FROM billing_auto_top_up_charge c
   WHERE c.wallet_id = p_wallet_id AND c.status <> 'failed'
     AND (c.ended_at IS NULL OR c.ended_at >= date_trunc('month', p_now, 'UTC'))
$$;


-- billing_begin_auto_top_up(p_wallet_id text, p_now timestamptz) RETURNS text
--
-- Begins an automatic top-up, if its owner wants one, the wallet is worth less than the threshold, none is under way, and the
-- month has room for it. Returns the charge's id, or null. A job sends it to the provider. The caller holds the wallet's lock.
-- An owner who must not be charged is left alone for an hour; a time further ahead than that means that the clock was set back.
CREATE OR REPLACE FUNCTION billing_begin_auto_top_up(p_wallet_id text, p_now timestamptz)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_terms billing_auto_top_up;
  v_id text;
BEGIN
  SELECT a.* INTO v_terms FROM billing_auto_top_up a
   WHERE a.wallet_id = p_wallet_id AND a.is_enabled AND a.paused_at IS NULL
     AND (a.retry_at IS NULL OR a.retry_at <= p_now OR a.retry_at > p_now + interval '1 hour');
  IF NOT FOUND OR billing_worth_of(p_wallet_id, p_now) >= v_terms.threshold_microusd
     OR billing_topped_up_in_month(p_wallet_id, p_now) + v_terms.amount_microusd > v_terms.monthly_limit_microusd
  THEN
    RETURN NULL;
  END IF;
  INSERT INTO billing_auto_top_up_charge (
    id, wallet_id, amount_microusd, requested_by, status, created_at, next_check_at)
  VALUES (
    'txn_' || right(lpad(to_hex((extract(epoch FROM p_now) * 1000)::bigint), 12, '0'), 12)
           || right(replace(gen_random_uuid()::text, '-', ''), 14),
    p_wallet_id, v_terms.amount_microusd, v_terms.requested_by, 'waiting', p_now, p_now)
  ON CONFLICT (wallet_id) WHERE ended_at IS NULL DO NOTHING
  RETURNING id INTO v_id;
  RETURN v_id;
END $$;


-- billing_begin_auto_top_ups(p_now timestamptz, p_limit integer DEFAULT 100) RETURNS SETOF text
--
-- Does the same for wallets that are below their owners' thresholds and have none under way: after a month has turned, or a
-- credit has expired. Returns the ids of the charges; each is progress. Wallets locked by others are left for the next call, see
-- billing_lock_wallets.
CREATE OR REPLACE FUNCTION billing_begin_auto_top_ups(p_now timestamptz, p_limit integer DEFAULT 100)
RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  v_wallet_id text;
  v_id text;
  v_due text[] := ARRAY(
    SELECT w.id
      FROM billing_auto_top_up a JOIN billing_wallet w ON w.id = a.wallet_id
     WHERE a.is_enabled AND a.paused_at IS NULL
       AND (a.retry_at IS NULL OR a.retry_at <= p_now OR a.retry_at > p_now + interval '1 hour')
       AND w.balance_microusd - w.debt_microusd < a.threshold_microusd
       AND NOT EXISTS (SELECT FROM billing_auto_top_up_charge c
                        WHERE c.wallet_id = w.id AND c.ended_at IS NULL)
       AND billing_worth_of(w.id, p_now) < a.threshold_microusd
       AND billing_topped_up_in_month(w.id, p_now) + a.amount_microusd <= a.monthly_limit_microusd
     ORDER BY w.id LIMIT p_limit);
BEGIN
  FOREACH v_wallet_id IN ARRAY billing_lock_wallets(v_due) LOOP
    v_id := billing_begin_auto_top_up(v_wallet_id, p_now);
    IF v_id IS NOT NULL THEN
      RETURN NEXT v_id;
    END IF;
  END LOOP;
END $$;


-- The wallet's row says below which worth a top-up is due, so that a settlement need not look for it. The wallet's lock, under which
-- the terms change, orders the two.
CREATE OR REPLACE FUNCTION billing_note_auto_top_up() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  UPDATE billing_wallet w
     SET top_up_below_microusd = CASE WHEN NEW.is_enabled AND NEW.paused_at IS NULL THEN NEW.threshold_microusd END
   WHERE w.id = NEW.wallet_id;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER auto_top_up_noted AFTER INSERT OR UPDATE ON billing_auto_top_up
  FOR EACH ROW EXECUTE FUNCTION billing_note_auto_top_up();


-- A charge's request never changes once it was sent; one that was paid stays paid; and only one that was never sent is deleted.
CREATE OR REPLACE FUNCTION billing_auto_top_up_charge_only_goes_on() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND OLD.begun_at IS NULL THEN
    RETURN OLD;
  END IF;
  IF TG_OP = 'DELETE'
     OR (NEW.id, NEW.wallet_id, NEW.amount_microusd, NEW.requested_by, NEW.created_at)
        IS DISTINCT FROM (OLD.id, OLD.wallet_id, OLD.amount_microusd, OLD.requested_by, OLD.created_at)
     OR OLD.begun_at IS NOT NULL
        AND (NEW.begun_at, NEW.provider, NEW.is_live, NEW.customer_ref, NEW.method_ref)
            IS DISTINCT FROM (OLD.begun_at, OLD.provider, OLD.is_live, OLD.customer_ref, OLD.method_ref)
     OR OLD.status = 'succeeded'
        AND (NEW.status, NEW.payment_ref, NEW.ended_at) IS DISTINCT FROM (OLD.status, OLD.payment_ref, OLD.ended_at)
  THEN
    RAISE EXCEPTION 'what billing_auto_top_up_charge % says is never changed', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER auto_top_up_charge_only_goes_on BEFORE DELETE OR UPDATE ON billing_auto_top_up_charge
  FOR EACH ROW EXECUTE FUNCTION billing_auto_top_up_charge_only_goes_on();
CREATE OR REPLACE TRIGGER auto_top_up_charge_stays BEFORE TRUNCATE ON billing_auto_top_up_charge
  FOR EACH STATEMENT EXECUTE FUNCTION billing_refuse_change();
