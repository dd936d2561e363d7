-- billing_forfeit_credits(p_owner_kind text, p_owner_key text, p_now timestamptz DEFAULT NULL) RETURNS bigint
--
-- Ends all credits of an owner that were granted, because their account is closed, and returns their amount: one transfer from
-- each. Credits of payments stay, and so does what open calls hold.
CREATE OR REPLACE FUNCTION billing_forfeit_credits(p_owner_kind text, p_owner_key text, p_now timestamptz DEFAULT NULL)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v_wallet billing_wallet := billing_lock_wallet(p_owner_kind, p_owner_key);
  v_now timestamptz := coalesce(p_now, clock_timestamp());
  v_amount bigint;
BEGIN
  WITH free AS (
    SELECT l.id, l.remaining_microusd - l.held_microusd AS amount FROM billing_credit_lot l
     WHERE l.wallet_id = v_wallet.id AND l.closed_at IS NULL AND l.source_kind <> 'payment'
       AND l.remaining_microusd > l.held_microusd
  ), ended AS (
    UPDATE billing_credit_lot l
       SET remaining_microusd = l.held_microusd, closed_at = CASE WHEN l.held_microusd = 0 THEN v_now END
      FROM free f WHERE l.id = f.id
  ), posted AS (
    INSERT INTO billing_transfer AS t (
      kind, source, seq, debit_account, credit_account, amount_microusd, wallet_id, created_at)
    SELECT 'forfeit', f.id, 0, 'lot:' || f.id, 'platform:expired', f.amount, v_wallet.id, v_now FROM free f
    RETURNING t.amount_microusd
  )
  SELECT coalesce(sum(p.amount_microusd), 0) INTO v_amount FROM posted p;
  PERFORM billing_watch_wallet(v_wallet.id, v_now);
  RETURN v_amount;
END $$;
