-- billing_unwind_lots(p_call record, p_charge bigint, p_now timestamptz) RETURNS bigint
--
-- Ends a closing call's hold on its lots: spends p_charge from them in the order of the hold, releases the rest, posts
-- one transfer per lot that paid, and returns how much the lots paid. Released credit of a payment that was taken back
-- meanwhile repays the debt at once (billing_repay_from_lots). The caller holds the wallet's lock.
--
-- Lot by lot: a join would be a few microseconds faster for many lots, but slower for one, which is the usual case.
CREATE OR REPLACE FUNCTION billing_unwind_lots(p_call record, p_charge bigint, p_now timestamptz)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v_lot_id text;
  v_amount bigint;
  v_spent bigint;
  v_paid bigint := 0;
  v_payment text;
  v_payments text[];
BEGIN
  FOR v_index IN 1 .. cardinality(p_call.lot_ids) LOOP
    v_lot_id := p_call.lot_ids[v_index];
    v_amount := p_call.lot_amounts_microusd[v_index];
    v_spent := least(v_amount, p_charge - v_paid);
    UPDATE billing_credit_lot l
       SET held_microusd = l.held_microusd - v_amount, remaining_microusd = l.remaining_microusd - v_spent,
           closed_at = CASE WHEN l.remaining_microusd = v_spent THEN p_now END
     WHERE l.id = v_lot_id
    RETURNING CASE l.source_kind WHEN 'payment' THEN split_part(l.source_key, '/', 1) END INTO v_payment;
    IF v_payment IS NOT NULL AND v_amount > v_spent THEN
      v_payments := v_payments || v_payment;
    END IF;
    IF v_spent > 0 THEN
      INSERT INTO billing_transfer (
        kind, source, seq, debit_account, credit_account, amount_microusd, wallet_id, created_at)
      VALUES (
        'charge', p_call.id, v_index, 'lot:' || v_lot_id, 'platform:revenue', v_spent, p_call.wallet_id,
        p_now);
      v_paid := v_paid + v_spent;
    END IF;
  END LOOP;
  IF v_payments IS NOT NULL THEN
    PERFORM billing_repay_from_lots(p_call.wallet_id, v_payments, p_now);
  END IF;
  RETURN v_paid;
END $$;


-- billing_unwind_budgets(p_call record, p_charge bigint, p_now timestamptz) RETURNS void
--
-- Ends a closing call's hold on the budgets of its wallet and counts p_charge as spent in each one's period that p_now is
-- in: a day, an ISO week or a month, in UTC. A budget's period only moves forward; a charge dated in an earlier one is not
-- counted. Budgets that have reached a threshold with it are recorded (alerts.sql).
CREATE OR REPLACE FUNCTION billing_unwind_budgets(p_call record, p_charge bigint, p_now timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_now timestamp := p_now AT TIME ZONE 'UTC';
  v_is_reached boolean;
  v_is_any_reached boolean := false;
BEGIN
  FOR v_is_reached IN
    UPDATE billing_budget b
       SET held_microusd = b.held_microusd - p_call.hold_microusd,
           spent_microusd = CASE WHEN b.period_start < date_trunc(b.period, v_now)::date THEN p_charge
                                 WHEN b.period_start = date_trunc(b.period, v_now)::date THEN b.spent_microusd + p_charge
                                 ELSE b.spent_microusd END,
           alerted_percent = CASE WHEN b.period_start < date_trunc(b.period, v_now)::date THEN 0
                                  ELSE b.alerted_percent END,
           period_start = greatest(b.period_start, date_trunc(b.period, v_now)::date)
     WHERE b.wallet_id = p_call.wallet_id
       AND (b.product IS NULL OR b.product = p_call.product)
       AND (b.membership_id IS NULL OR b.membership_id = p_call.membership_id)
       AND (b.client_id IS NULL OR b.client_id = p_call.client_id)
    RETURNING b.disabled_at IS NULL
              AND billing_reached(b.spent_microusd, CASE WHEN p_now < b.override_until THEN b.override_limit_microusd
                                                         ELSE b.limit_microusd END) > b.alerted_percent
  LOOP
    v_is_any_reached := v_is_any_reached OR v_is_reached;
  END LOOP;
  IF v_is_any_reached THEN
    PERFORM billing_watch_budgets(p_call.wallet_id, p_now);
  END IF;
END $$;


-- What only functions of the version before called.
DROP FUNCTION IF EXISTS billing_unwind_lots(billing_reservation, bigint, timestamptz);
DROP FUNCTION IF EXISTS billing_unwind_budgets(billing_reservation, bigint, timestamptz);
