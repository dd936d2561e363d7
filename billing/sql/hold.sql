-- billing_hold_locked(p_call record, p_membership_id text, p_now timestamptz DEFAULT NULL, p_token_scopes text[] DEFAULT NULL,
--                     p_is_concurrency_limited boolean DEFAULT NULL)
--   RETURNS (outcome text, usage_id text, available_microusd bigint, budget_id text,
--            replay_status integer, replay_headers jsonb, replay_body bytea)
--
-- Places a call's hold, or returns why not. The caller has locked the owner's wallet in an earlier statement: under that lock
-- each statement here sees the current wallet, lots and calls. p_call has these members, and may have more:
--
--   usage_id, owner_kind, owner_key, did, product, client_id, route, model, request_id, key, digest (hex), body_sha256 (hex)
--   hold, max_cost: in micro-USD
--   price_version: the prices that the hold was computed with
--   deadline_seconds: how long the call may take before the reaper moves it to review; every call has it
--   is_trial: everything but the hold itself
--
-- p_token_scopes and p_is_concurrency_limited are what the call keeps of the rate limits that admitted it (billing_read_limits).
-- The member is p_membership_id, whatever the caller's token says. Checks in this order, under the wallet's lock:
-- idempotency key (null: none), suspension, budgets, funds. Outcomes:
--   'reserved'            the hold stands and the call counts as sent, usage_id is p_call's: state 'dispatched'
--   'fresh'               of a trial: the hold would succeed now
--   'in_progress' | 'key_reused' | 'replay' | 'gone'   as billing_find_replay, usage_id is the first call's
--   'suspended'           the owner is an organization that is suspended
--   'budget_exceeded'     budget_id names the first budget whose limit spent + held + hold would pass: the override's
--                         limit while there is one. A budget counts a day, an ISO week or a month, in UTC
--   'insufficient_funds'  available_microusd is what a call for this product could hold (0 while there is a debt)
-- A refusal or a trial changes nothing except that it may open an empty wallet. Raises check_violation unless
-- 0 <= hold <= max_cost and there is a deadline, and foreign_key_violation if there are no such prices.
--
-- Credits are spent before balance: those for the product first, then sooner expiry first, then older first. A call
-- holds at most the first 64 credits in this order, so that no call holds the wallet's lock for long; balance covers
-- the rest. An expired credit is not spendable from that instant on.
CREATE OR REPLACE FUNCTION billing_hold_locked(
  p_call record, p_membership_id text, p_now timestamptz DEFAULT NULL, p_token_scopes text[] DEFAULT NULL,
  p_is_concurrency_limited boolean DEFAULT NULL,
  OUT outcome text, OUT usage_id text, OUT available_microusd bigint, OUT budget_id text,
  OUT replay_status integer, OUT replay_headers jsonb, OUT replay_body bytea)
LANGUAGE plpgsql AS $$
DECLARE
  v_digest bytea := decode(p_call.digest, 'hex');
  v_now timestamptz := coalesce(p_now, clock_timestamp());
  v_wallet record;
  v_left bigint := p_call.hold;
  v_lot record;
  v_lot_ids text[];
  v_lot_amounts bigint[];
BEGIN
  IF (p_call.hold BETWEEN 0 AND p_call.max_cost AND (p_call.is_trial OR p_call.deadline_seconds >= 0)) IS NOT TRUE THEN
    RAISE EXCEPTION 'a hold of % micro-USD, at most %, for % seconds', p_call.hold, p_call.max_cost, p_call.deadline_seconds
      USING ERRCODE = 'check_violation';
  END IF;
  SELECT w.id, w.balance_microusd - w.held_microusd AS free, w.debt_microusd > 0 AS is_in_debt, w.has_budgets, w.is_suspended,
         EXISTS (SELECT FROM billing_price_version v WHERE v.id = p_call.price_version) AS has_prices,
         p_call.key IS NOT NULL AND EXISTS (
           SELECT FROM ONLY billing_reservation r
            WHERE r.wallet_id = w.id AND r.route = p_call.route AND r.idempotency_key = p_call.key AND r.replayable)
           AS is_key_taken
    INTO v_wallet
    FROM billing_wallet w
   WHERE w.owner_kind = p_call.owner_kind AND w.owner_key = p_call.owner_key;
  IF NOT v_wallet.has_prices THEN
    RAISE EXCEPTION 'there is no price version %', p_call.price_version USING ERRCODE = 'foreign_key_violation';
  END IF;

  IF v_wallet.is_key_taken THEN
    SELECT k.outcome, k.usage_id, k.replay_status, k.replay_headers, k.replay_body
      INTO outcome, usage_id, replay_status, replay_headers, replay_body
      FROM billing_key_holder(v_wallet.id, p_call.route, p_call.key, v_digest, v_now) k;
    IF outcome <> 'fresh' THEN
      RETURN;
    END IF;
    IF usage_id IS NOT NULL THEN
      UPDATE ONLY billing_reservation r SET replayable = false WHERE r.id = usage_id;
    END IF;
  END IF;
  usage_id := p_call.usage_id;

  IF v_wallet.is_suspended THEN
    outcome := 'suspended';
    RETURN;
  END IF;
  IF v_wallet.has_budgets THEN
    SELECT b.id INTO budget_id FROM billing_budget b
     WHERE b.wallet_id = v_wallet.id AND b.disabled_at IS NULL
       AND (b.product IS NULL OR b.product = p_call.product)
       AND (b.membership_id IS NULL OR b.membership_id = p_membership_id)
       AND (b.client_id IS NULL OR b.client_id = p_call.client_id)
       AND CASE WHEN b.period_start < date_trunc(b.period, v_now AT TIME ZONE 'UTC')::date THEN 0 ELSE b.spent_microusd END
           + b.held_microusd + p_call.hold
           > CASE WHEN v_now < b.override_until THEN b.override_limit_microusd ELSE b.limit_microusd END
     ORDER BY b.id LIMIT 1;
    IF FOUND THEN
      outcome := 'budget_exceeded';
      RETURN;
    END IF;
  END IF;

  FOR v_lot IN
    SELECT l.id, l.remaining_microusd - l.held_microusd AS free FROM billing_credit_lot l
     WHERE l.wallet_id = v_wallet.id AND l.closed_at IS NULL
       AND l.remaining_microusd > l.held_microusd
       AND (l.expires_at IS NULL OR l.expires_at > v_now)
       AND (l.product IS NULL OR l.product = p_call.product)
     ORDER BY l.product IS NULL, l.expires_at NULLS LAST, l.id
     LIMIT 64
  LOOP
    EXIT WHEN v_left = 0;
    v_lot_ids := v_lot_ids || v_lot.id;
    v_lot_amounts := v_lot_amounts || least(v_lot.free, v_left);
    v_left := v_left - least(v_lot.free, v_left);
  END LOOP;

  IF v_wallet.is_in_debt OR v_left > v_wallet.free THEN
    outcome := 'insufficient_funds';
    available_microusd := CASE WHEN v_wallet.is_in_debt THEN 0 ELSE p_call.hold - v_left + v_wallet.free END;
    RETURN;
  END IF;

  IF p_call.is_trial THEN
    outcome := 'fresh';
    usage_id := NULL;
    RETURN;
  END IF;

  INSERT INTO billing_reservation (
    id, wallet_id, actor_did, org_id, membership_id, product, client_id, route, model, request_id, idempotency_key,
    request_digest, body_sha256, replayable, state, max_cost_microusd, hold_microusd, cash_held_microusd, lot_ids,
    lot_amounts_microusd, price_version_id, created_at, dispatched_at, deadline_at, overrun_microusd, token_scopes,
    is_concurrency_limited)
  VALUES (
    p_call.usage_id, v_wallet.id, p_call.did, CASE WHEN p_call.owner_kind = 'organization' THEN p_call.owner_key END,
    p_membership_id, p_call.product, p_call.client_id, p_call.route, p_call.model, p_call.request_id, p_call.key, v_digest,
    decode(p_call.body_sha256, 'hex'), p_call.key IS NOT NULL, 'dispatched', p_call.max_cost, p_call.hold, v_left, v_lot_ids, v_lot_amounts,
    p_call.price_version, v_now, v_now, v_now + make_interval(secs => p_call.deadline_seconds), 0,
    p_token_scopes, p_is_concurrency_limited);

  IF v_left > 0 THEN
    UPDATE billing_wallet w SET held_microusd = w.held_microusd + v_left WHERE w.id = v_wallet.id;
  END IF;
  FOR v_index IN 1 .. coalesce(cardinality(v_lot_ids), 0) LOOP
    UPDATE billing_credit_lot l SET held_microusd = l.held_microusd + v_lot_amounts[v_index]
     WHERE l.id = v_lot_ids[v_index];
  END LOOP;
  IF v_wallet.has_budgets THEN
    UPDATE billing_budget b SET held_microusd = b.held_microusd + p_call.hold
     WHERE b.wallet_id = v_wallet.id
       AND (b.product IS NULL OR b.product = p_call.product)
       AND (b.membership_id IS NULL OR b.membership_id = p_membership_id)
       AND (b.client_id IS NULL OR b.client_id = p_call.client_id);
  END IF;

  outcome := 'reserved';
END $$;


-- What only functions of the version before called.
DROP FUNCTION IF EXISTS billing_reserve(
  text, text, text, text, text, text, text, text, text, text, text, bytea, bigint, bigint, bigint, timestamptz,
  timestamptz);
DROP FUNCTION IF EXISTS billing_hold(json, text, timestamptz);
DROP FUNCTION IF EXISTS billing_hold_locked(record, text, timestamptz);
