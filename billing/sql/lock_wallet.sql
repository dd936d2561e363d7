-- billing_lock_wallet(p_owner_kind text, p_owner_key text) RETURNS billing_wallet
--
-- Locks the owner's wallet (FOR NO KEY UPDATE) until the transaction ends, and returns its row as of the lock. Opens
-- the wallet if the owner has none. Every change to the money of a wallet, its lots, budgets or open reservations
-- begins here, or with the same lock on a known wallet.
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


-- billing_lock_wallets(p_wallet_ids text[]) RETURNS text[]
--
-- Locks, until the transaction ends, those of the wallets that are not locked, and returns their ids. If all are
-- locked, it waits for the first one only. So a job never holds one wallet while it waits for another, and the wallets
-- it skipped are still due in its next run. Must not be called while holding a wallet.
CREATE OR REPLACE FUNCTION billing_lock_wallets(p_wallet_ids text[]) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
  v_locked text[] := ARRAY(
    SELECT w.id FROM billing_wallet w WHERE w.id = ANY (p_wallet_ids) FOR NO KEY UPDATE SKIP LOCKED);
BEGIN
  IF cardinality(v_locked) = 0 THEN
    v_locked := ARRAY(SELECT w.id FROM billing_wallet w WHERE w.id = p_wallet_ids[1] FOR NO KEY UPDATE);
  END IF;
  RETURN v_locked;
END $$;
