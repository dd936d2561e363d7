-- Alerts of a wallet and of its budgets, written in the transaction that crosses a threshold (docs/alerts.md).
--
-- A wallet is worth its balance and its credits that have not expired, less its debt, whatever open calls hold. Its
-- alert_below_microusd is the worth below which something is to be recorded: the owner's threshold while it is worth that
-- much; then 1, which is to say nothing left; then null. So a settlement, which gets the column with its UPDATE, need not
-- look at a wallet whose balance alone is more. It is always billing_alert_below of the worth that was seen last. Another
-- reason to look at a wallet gets a column of its own; settle.sql compares with the greatest.


-- billing_alert_below(p_worth bigint, p_low bigint) RETURNS bigint
--
-- The worth below which the next alert of a wallet is due that is worth p_worth and whose threshold is p_low (0: none).
CREATE OR REPLACE FUNCTION billing_alert_below(p_worth bigint, p_low bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN p_worth >= greatest(p_low, 1) THEN greatest(p_low, 1) WHEN p_worth >= 1 THEN 1 END
$$;


-- billing_watch_wallet(p_wallet_id text, p_now timestamptz) RETURNS void
--
-- Records wallet.low and wallet.empty if the wallet has fallen below what it was last seen at, and arms both again if it has
-- risen; begins an automatic top-up if one is due (auto_top_up.sql). Every transaction that changes a wallet's worth ends with it. The caller holds the wallet's lock.
CREATE OR REPLACE FUNCTION billing_watch_wallet(p_wallet_id text, p_now timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_wallet record;
  v_below bigint;
BEGIN
  SELECT w.low_balance_microusd AS low, w.alert_below_microusd AS below, w.top_up_below_microusd AS top_up_below,
         w.balance_microusd - w.debt_microusd
           + coalesce((SELECT sum(l.remaining_microusd) FROM billing_credit_lot l
                        WHERE l.wallet_id = w.id AND l.closed_at IS NULL
                          AND (l.expires_at IS NULL OR l.expires_at > p_now)), 0)::bigint AS worth
    INTO v_wallet
    FROM billing_wallet w WHERE w.id = p_wallet_id;
  IF v_wallet.worth < v_wallet.top_up_below THEN
    PERFORM billing_begin_auto_top_up(p_wallet_id, p_now);
  END IF;
  v_below := billing_alert_below(v_wallet.worth, v_wallet.low);
  IF v_below IS DISTINCT FROM v_wallet.below THEN
    UPDATE billing_wallet w SET alert_below_microusd = v_below WHERE w.id = p_wallet_id;
  END IF;
  IF v_wallet.low > 0 AND v_wallet.below >= v_wallet.low AND v_wallet.worth < v_wallet.low THEN
    PERFORM billing_record_wallet(
      p_wallet_id, 'wallet.low', jsonb_build_object('thresholdMicrousd', v_wallet.low), p_now);
  END IF;
  IF v_wallet.below IS NOT NULL AND v_below IS NULL THEN
    PERFORM billing_record_wallet(p_wallet_id, 'wallet.empty', '{}', p_now);
  END IF;
END $$;


-- billing_watch_wallets(p_wallet_ids text[], p_now timestamptz DEFAULT NULL) RETURNS text[]
--
-- Looks at several wallets, in the order of their owners; returns which. Those locked by others are left for the next call,
-- see billing_lock_wallets.
CREATE OR REPLACE FUNCTION billing_watch_wallets(p_wallet_ids text[], p_now timestamptz DEFAULT NULL) RETURNS text[]
LANGUAGE plpgsql AS $$
DECLARE
  v_locked text[] := billing_lock_wallets(p_wallet_ids);
  v_now timestamptz := coalesce(p_now, clock_timestamp());
BEGIN
  PERFORM billing_watch_wallet(o.id, v_now)
     FROM (SELECT w.id FROM billing_wallet w WHERE w.id = ANY (v_locked) ORDER BY w.owner_kind, w.owner_key) o;
  RETURN v_locked;
END $$;


-- billing_set_low_balance(p_owner_kind text, p_owner_key text, p_amount bigint, p_now timestamptz DEFAULT NULL)
--   RETURNS bigint
--
-- Sets the threshold of a wallet, and returns what it was. No alert follows from the change itself: a wallet that is below
-- the new threshold was not seen to fall below it.
CREATE OR REPLACE FUNCTION billing_set_low_balance(
  p_owner_kind text, p_owner_key text, p_amount bigint, p_now timestamptz DEFAULT NULL)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v_wallet billing_wallet := billing_lock_wallet(p_owner_kind, p_owner_key);
  v_now timestamptz := coalesce(p_now, clock_timestamp());
BEGIN
  PERFORM billing_watch_wallet(v_wallet.id, v_now);  -- credits may have expired since it was last seen
  -- Nothing is armed for a moment, so that the second look only arms.
  UPDATE billing_wallet w SET low_balance_microusd = p_amount, alert_below_microusd = NULL WHERE w.id = v_wallet.id;
  PERFORM billing_watch_wallet(v_wallet.id, v_now);
  RETURN v_wallet.low_balance_microusd;
END $$;


-- billing_note_credit(p_wallet_id text, p_amount bigint, p_transaction text, p_now timestamptz) RETURNS void
--
-- Looks at a wallet that money came into and records wallet.credited; p_transaction is the payment's, or null. The caller
-- holds the wallet's lock.
CREATE OR REPLACE FUNCTION billing_note_credit(p_wallet_id text, p_amount bigint, p_transaction text, p_now timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM billing_watch_wallet(p_wallet_id, p_now);
  PERFORM billing_record_wallet(
    p_wallet_id, 'wallet.credited',
    jsonb_strip_nulls(jsonb_build_object('amountMicrousd', p_amount, 'transactionId', p_transaction)), p_now);
END $$;


-- billing_record_wallet(p_wallet_id text, p_type text, p_data jsonb, p_now timestamptz) RETURNS void
--
-- Records an event of a wallet, with its owner and what it has available: as GET /v1/wallet says, 0 while there is a debt.
CREATE OR REPLACE FUNCTION billing_record_wallet(p_wallet_id text, p_type text, p_data jsonb, p_now timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM events_record(
            w.owner_kind, w.owner_key, p_type,
            billing_owner_member(w.owner_kind, w.owner_key)
              || jsonb_build_object('availableMicrousd', CASE WHEN w.debt_microusd > 0 THEN 0
                   ELSE w.balance_microusd - w.held_microusd
                     + coalesce((SELECT sum(l.remaining_microusd - l.held_microusd) FROM billing_credit_lot l
                                  WHERE l.wallet_id = w.id AND l.closed_at IS NULL
                                    AND (l.expires_at IS NULL OR l.expires_at > p_now)), 0)::bigint END)
              || p_data,
            p_now => p_now)
     FROM billing_wallet w WHERE w.id = p_wallet_id;
END $$;


-- billing_owner_member(p_owner_kind text, p_owner_key text) RETURNS jsonb: {"orgId": …} or {"did": …}
CREATE OR REPLACE FUNCTION billing_owner_member(p_owner_kind text, p_owner_key text) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT jsonb_build_object(CASE p_owner_kind WHEN 'organization' THEN 'orgId' ELSE 'did' END, p_owner_key)
$$;


-- billing_reached(p_spent bigint, p_limit bigint) RETURNS integer
--
-- The highest of a budget's thresholds that is reached, in percent of its limit: 100, 80 or 0. Nothing spent reaches none.
CREATE OR REPLACE FUNCTION billing_reached(p_spent bigint, p_limit bigint) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN p_spent <= 0 THEN 0
              WHEN p_spent >= p_limit THEN 100
              WHEN p_spent >= p_limit - p_limit / 5 THEN 80
              ELSE 0 END
$$;


-- billing_watch_budgets(p_wallet_id text, p_now timestamptz) RETURNS void
--
-- Records budget.threshold for the budgets of a wallet that have reached 80 or 100 % of the limit in force: each once a
-- period, which the budget's row remembers. Budgets that are turned off reach nothing. The caller holds the wallet's lock.
CREATE OR REPLACE FUNCTION billing_watch_budgets(p_wallet_id text, p_now timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_budget record;
BEGIN
  FOR v_budget IN
    SELECT o.*, billing_reached(o.spent_microusd, o.limit_microusd) AS reached
      FROM (SELECT b.id, b.scope, b.spent_microusd, b.alerted_percent, w.owner_kind, w.owner_key,
                   CASE WHEN p_now < b.override_until THEN b.override_limit_microusd ELSE b.limit_microusd END
                     AS limit_microusd
              FROM billing_budget b JOIN billing_wallet w ON w.id = b.wallet_id
             WHERE b.wallet_id = p_wallet_id AND b.disabled_at IS NULL
               AND b.period_start = date_trunc(b.period, p_now AT TIME ZONE 'UTC')::date) o
     WHERE billing_reached(o.spent_microusd, o.limit_microusd) > o.alerted_percent
     ORDER BY o.id
  LOOP
    UPDATE billing_budget b SET alerted_percent = v_budget.reached WHERE b.id = v_budget.id;
    PERFORM events_record(
              v_budget.owner_kind, v_budget.owner_key, 'budget.threshold',
              billing_owner_member(v_budget.owner_kind, v_budget.owner_key)
                || jsonb_build_object(
                     'budgetId', v_budget.id, 'scope', v_budget.scope, 'percent', t.percent,
                     'limitMicrousd', v_budget.limit_microusd, 'spentMicrousd', v_budget.spent_microusd),
              p_now => p_now)
       FROM unnest(ARRAY[80, 100]) AS t (percent)
      WHERE t.percent > v_budget.alerted_percent AND t.percent <= v_budget.reached;
  END LOOP;
END $$;


-- billing_record_usage(p_type text, p_wallet_id text, p_usage_id text, p_product text, p_now timestamptz) RETURNS void
--
-- Records what became of a call if an endpoint of its product gets that type. The public body is the call's usage record.
CREATE OR REPLACE FUNCTION billing_record_usage(
  p_type text, p_wallet_id text, p_usage_id text, p_product text, p_now timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF p_product IS NULL OR NOT EXISTS (SELECT FROM events_subscription s WHERE s.product = p_product AND s.type = p_type) THEN
    RETURN;
  END IF;
  PERFORM events_record(
            w.owner_kind, w.owner_key, p_type, jsonb_build_object('usageId', p_usage_id), p_product, p_now)
     FROM billing_wallet w WHERE w.id = p_wallet_id;
END $$;
