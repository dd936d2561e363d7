-- billing_lock_wallet(p_owner_kind text, p_owner_key text) RETURNS billing_wallet
--
-- Locks the owner's wallet (FOR NO KEY UPDATE) until the transaction ends and gives its row as it stands under the
-- lock. Opens the wallet where the owner has none yet. Everything that changes money of a wallet, its lots, budgets or
-- open reservations begins here or with the same lock on a known wallet.
CREATE OR REPLACE FUNCTION billing_lock_wallet(p_owner_kind text, p_owner_key text)
RETURNS billing_wallet LANGUAGE plpgsql AS $$
DECLARE
  v_wallet billing_wallet;
BEGIN
  LOOP
    SELECT w.* INTO v_wallet FROM billing_wallet w
     WHERE w.owner_kind = p_owner_kind AND w.owner_key = p_owner_key
       FOR NO KEY UPDATE;
    IF FOUND THEN
      RETURN v_wallet;
    END IF;
    INSERT INTO billing_wallet (id, owner_kind, owner_key)
    VALUES ('wal_' || replace(gen_random_uuid()::text, '-', ''), p_owner_kind, p_owner_key)
    ON CONFLICT DO NOTHING;
  END LOOP;
END $$;
