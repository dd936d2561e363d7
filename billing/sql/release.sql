-- billing_release(p_usage_id text, p_resolution text DEFAULT NULL, p_book_loss boolean DEFAULT false,
--                 p_expected text[] DEFAULT '{dispatched}',
--                 p_now timestamptz DEFAULT NULL)
--   RETURNS (outcome text, hold_microusd bigint)
--
-- Ends a call without a charge: releases its whole hold and frees its idempotency key. p_book_loss books the hold as a
-- possible loss of the operator. Whoever may release a dispatched call may also release one that others gave up
-- (billing_is_given_up): its process learned, perhaps late, that nothing was used. Outcomes:
--   'released'   done now          'already'   released before        'settled'   charged before: nothing changed
--   'conflict'   in a state that is not in p_expected                 'unknown'   there is no such call
CREATE OR REPLACE FUNCTION billing_release(
  p_usage_id text, p_resolution text DEFAULT NULL, p_book_loss boolean DEFAULT false,
  p_expected text[] DEFAULT '{dispatched}', p_now timestamptz DEFAULT NULL,
  OUT outcome text, OUT hold_microusd bigint)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM billing_lock_call(p_usage_id, true);
  SELECT r.* INTO outcome, hold_microusd
    FROM billing_release_locked(p_usage_id, p_resolution, p_book_loss, p_expected, p_now) r;
END $$;


-- The same for a caller that has locked the call's wallet; in two functions for the reason that settle.sql gives.
CREATE OR REPLACE FUNCTION billing_release_locked(
  p_usage_id text, p_resolution text DEFAULT NULL, p_book_loss boolean DEFAULT false,
  p_expected text[] DEFAULT '{dispatched}', p_now timestamptz DEFAULT NULL,
  OUT outcome text, OUT hold_microusd bigint)
LANGUAGE plpgsql AS $$
DECLARE
  v_call record;
  v_now timestamptz;
  v_has_budgets boolean;
BEGIN
  v_now := coalesce(p_now, clock_timestamp());

  UPDATE ONLY billing_reservation r
     SET state = 'released', closed_at = v_now, replayable = false, resolution = p_resolution
   WHERE r.id = p_usage_id AND r.closed_at IS NULL
     AND (r.state = ANY (p_expected)
          OR 'dispatched' = ANY (p_expected) AND billing_is_given_up(r.state, r.review_reason))
  RETURNING r.id, r.wallet_id, r.product, r.membership_id, r.client_id, r.hold_microusd, r.cash_held_microusd,
            r.lot_ids, r.lot_amounts_microusd INTO v_call;
  IF NOT FOUND THEN
    SELECT CASE r.state WHEN 'released' THEN 'already' WHEN 'settled' THEN 'settled' ELSE 'conflict' END,
           r.hold_microusd
      INTO outcome, hold_microusd
      FROM billing_find_call(p_usage_id) r;
    outcome := coalesce(outcome, 'unknown');
    RETURN;
  END IF;
  outcome := 'released';
  hold_microusd := v_call.hold_microusd;

  IF v_call.cash_held_microusd < hold_microusd THEN
    PERFORM billing_unwind_lots(v_call, 0, v_now);
  END IF;
  IF v_call.cash_held_microusd > 0 THEN
    UPDATE billing_wallet w SET held_microusd = w.held_microusd - v_call.cash_held_microusd
     WHERE w.id = v_call.wallet_id
    RETURNING w.has_budgets INTO v_has_budgets;
  ELSE
    SELECT w.has_budgets INTO v_has_budgets FROM billing_wallet w WHERE w.id = v_call.wallet_id;
  END IF;
  IF v_has_budgets THEN
    PERFORM billing_unwind_budgets(v_call, 0, v_now);
  END IF;
  DELETE FROM billing_stored_replay s WHERE s.reservation_id = p_usage_id;
  IF p_book_loss AND hold_microusd > 0 THEN
    INSERT INTO billing_loss (reservation_id, kind, amount_microusd, created_at)
    VALUES (p_usage_id, 'unresolved', v_call.hold_microusd, v_now);
  END IF;
  PERFORM billing_record_usage('usage.released', v_call.wallet_id, p_usage_id, v_call.product, v_now);
END $$;
