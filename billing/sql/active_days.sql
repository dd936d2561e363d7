-- billing_roll_up_active(p_begins timestamptz, p_ends timestamptz) RETURNS void
--
-- Counts the accounts with a settled call that closed in [p_begins, p_ends), which is later than everything that was counted
-- before, one UTC day after the other. An account counts once on a day, and once in the 30 days that end with a day: its last
-- day is moved forward, so the accounts whose last day is one of the 30 are those that were active in them. Only for
-- `billing_roll_up_usage`, which runs one at a time.
CREATE OR REPLACE FUNCTION billing_roll_up_active(p_begins timestamptz, p_ends timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_begins timestamptz := p_begins;
  v_ends timestamptz;
  v_day date;
BEGIN
  WHILE v_begins < p_ends LOOP
    v_ends := least(p_ends, date_trunc('day', v_begins, 'UTC') + interval '24 hours');
    v_day := (v_begins AT TIME ZONE 'UTC')::date;

    WITH active AS MATERIALIZED (
      SELECT DISTINCT r.actor_did FROM billing_reservation r
       WHERE r.closed_at >= v_begins AND r.closed_at < v_ends AND r.state = 'settled'
    ), fresh AS MATERIALIZED (
      SELECT a.actor_did, b.last_on FROM active a LEFT JOIN billing_active_account b ON b.actor_did = a.actor_did
       WHERE b.last_on IS NULL OR b.last_on < v_day
    ), moved AS (
      INSERT INTO billing_active_account (actor_did, last_on) SELECT f.actor_did, v_day FROM fresh f
      ON CONFLICT (actor_did) DO UPDATE SET last_on = EXCLUDED.last_on
    ), days_left AS (
      UPDATE billing_active_day d SET last_accounts = d.last_accounts - f.accounts
        FROM (SELECT last_on, count(*) AS accounts FROM fresh WHERE last_on IS NOT NULL GROUP BY last_on) f
       WHERE d.day = f.last_on
    )
    INSERT INTO billing_active_day AS d (day, accounts, last_accounts, month_accounts)
    SELECT v_day, count(*), count(*), 0 FROM fresh
    ON CONFLICT (day) DO UPDATE
      SET accounts = d.accounts + EXCLUDED.accounts, last_accounts = d.last_accounts + EXCLUDED.last_accounts;

    UPDATE billing_active_day d
       SET month_accounts = (SELECT sum(m.last_accounts) FROM billing_active_day m WHERE m.day > v_day - 30 AND m.day <= v_day)
     WHERE d.day = v_day;
    v_begins := v_ends;
  END LOOP;
END $$;
