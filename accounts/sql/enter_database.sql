-- accounts_enter_database() RETURNS (is_standby boolean, origin text, began_at timestamptz)
--
-- Called by each new connection before anything else. A server writes one history: its timeline, which a promotion and a
-- point-in-time recovery end, in a cluster with its own identifier, which a restored dump does not keep. If the stored
-- history is another one, what was committed last may be lost, so a new history begins, and every proof that may have been
-- used before is refused. Of several callers at once, the first begins it, and the others wait for that.
--
-- is_standby: whether the database must not be used yet. So is a server that has been promoted and still refuses writes: its
-- new history cannot begin, and a connection that is open when it accepts them would never be checked again.
--
-- origin: of all copies of one database. began_at: when the present history began; always later than that of the history
-- that it continues, so that a former primary is recognized by an earlier one.
CREATE OR REPLACE FUNCTION accounts_enter_database(OUT is_standby boolean, OUT origin text, OUT began_at timestamptz)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_history text;
BEGIN
  is_standby := pg_is_in_recovery();
  IF NOT is_standby THEN
    -- The name of the log file begins with the timeline. pg_control_checkpoint() knows a promotion only after a checkpoint.
    SELECT s.system_identifier || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) INTO v_history
      FROM pg_control_system() s;
  END IF;
  IF current_setting('transaction_read_only') = 'on' THEN
    is_standby := is_standby OR EXISTS (SELECT FROM accounts_replay_epoch e WHERE e.history <> v_history);
  ELSE
    IF NOT EXISTS (SELECT FROM accounts_replay_epoch) THEN
      PERFORM accounts_begin_epoch();
    END IF;
    UPDATE accounts_replay_epoch e
       SET lost_until = CASE WHEN e.history IS NULL THEN e.lost_until
                             ELSE greatest(e.lost_until, clock_timestamp() + interval '91 seconds') END,
           history = v_history,
           origin = coalesce(e.origin, gen_random_uuid()),
           began_at = greatest(clock_timestamp(), e.began_at + interval '1 microsecond')
     WHERE e.history IS DISTINCT FROM v_history;
  END IF;
  SELECT e.origin::text, e.began_at INTO origin, began_at FROM accounts_replay_epoch e;
END $$;
