-- Tables for old months of calls, so that the hot tables do not grow forever.
--
-- A month has three tables, billing_reservation_2025_10 and so on, for calls, their usage records and the transfers of
-- their charges. They inherit from the hot tables, so queries of those read the months too; only functions on the path
-- of a call name ONLY the hot tables. A row belongs to the month in which its usage id was created. It is moved once,
-- in one transaction, and never changes again. Triggers check every insertion into a monthly table and every deletion
-- from a hot table, whoever makes it.

-- billing_first_id(p_day date) RETURNS text
--
-- The lowest usage id of a day (gateway/core/contract/ids.py): ten digits of base 32 are the milliseconds since 1970.
CREATE OR REPLACE FUNCTION billing_first_id(p_day date) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT 'use_' || string_agg(
           substr('0123456789abcdefghjkmnpqrstvwxyz', 1 + ((at.ms >> 5 * digit) & 31)::integer, 1), '' ORDER BY digit DESC)
    FROM (SELECT extract(epoch FROM p_day)::bigint * 1000 AS ms) at, generate_series(0, 9) AS digit
$$;


-- billing_month_tables()
--   RETURNS TABLE (month date, hot text, key text, name text, first_id text, end_id text, bounds text)
--
-- The tables that must exist: one for each month in billing_ledger_month and each hot table. `key` is the column with
-- the usage id, within [first_id, end_id), and `bounds` the CHECK of that range. It also lets the planner skip a month
-- for queries that cannot match it: open calls, payments, calls of other times.
CREATE OR REPLACE FUNCTION billing_month_tables()
RETURNS TABLE (month date, hot text, key text, name text, first_id text, end_id text, bounds text)
LANGUAGE sql STABLE AS $$
  SELECT m.month, h.hot, h.key, h.hot || to_char(m.month, '_YYYY_MM'), m.first_id, m.end_id,
         format('%I >= %L AND %I < %L', h.key, m.first_id, h.key, m.end_id) || CASE h.hot
           WHEN 'billing_transfer' THEN ' AND kind = ''charge'''
           WHEN 'billing_reservation' THEN format(
             ' AND closed_at IS NOT NULL AND created_at >= %L AND created_at < %L',
             to_char(m.month - 1, 'YYYY-MM-DD 00:00:00+00'), to_char(m.month_end + 1, 'YYYY-MM-DD 00:00:00+00'))
           ELSE '' END
    FROM (SELECT l.month, n.month_end, billing_first_id(l.month) AS first_id, billing_first_id(n.month_end) AS end_id
            FROM billing_ledger_month l
           CROSS JOIN LATERAL (SELECT (l.month + interval '1 month')::date AS month_end) n) m
   CROSS JOIN (VALUES ('billing_reservation', 'id'), ('billing_usage_record', 'reservation_id'),
                      ('billing_transfer', 'source')) AS h (hot, key)
$$;


-- billing_final_until() RETURNS timestamptz
--
-- The time before which closed calls can no longer change: they are sealed and in the daily totals, and their
-- idempotency keys are free.
CREATE OR REPLACE FUNCTION billing_final_until() RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT least(coalesce((SELECT max(s.ends_at) FROM billing_seal s), '-infinity'),
               coalesce((SELECT h.ends_at FROM billing_usage_horizon h WHERE h.id = 1), '-infinity'),
               clock_timestamp() - interval '24 hours')
$$;


-- billing_stays_because(p_call billing_reservation, p_month date, p_final timestamptz, p_has_loss boolean,
--                       p_has_answer boolean) RETURNS text
--
-- Why a call stays in the hot table, null if it may move. If a call's creation time does not match its id, the clock of
-- its process was wrong: it stays, because keys in a month are only kept apart by the time of the month.
CREATE OR REPLACE FUNCTION billing_stays_because(
  p_call billing_reservation, p_month date, p_final timestamptz, p_has_loss boolean, p_has_answer boolean)
RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN p_call.closed_at IS NULL THEN CASE p_call.state WHEN 'review' THEN 'in review' ELSE 'open' END
    WHEN p_call.created_at < (p_month - 1)::timestamp AT TIME ZONE 'UTC'
      OR p_call.created_at >= (p_month + interval '1 month 1 day') AT TIME ZONE 'UTC'
    THEN 'made at another time than the id says'
    WHEN p_call.closed_at >= p_final THEN 'closed too recently'
    WHEN p_has_loss THEN 'booked as a loss'
    WHEN p_has_answer THEN 'answer is stored'
  END
$$;


-- Rows of a monthly table never change. The guards of the hot table do not protect it: a statement trigger does not
-- fire if the statement names another table, so this is a row trigger.
CREATE OR REPLACE FUNCTION billing_month_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% rows are never changed or deleted', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;


-- A monthly table accepts only rows that are in the hot table, equal in every column, down to the bytes (`*=`): calls
-- that may move, and rows of a call that is already in the month. This guard and the next read other tables. They set
-- their own search_path, because otherwise a temporary table would be found first.
CREATE OR REPLACE FUNCTION billing_month_admits() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  v_final timestamptz := billing_final_until();
  v_table record;
  v_admitted bigint;
BEGIN
  SELECT t.*, 'billing_reservation' || to_char(t.month, '_YYYY_MM') AS calls INTO v_table
    FROM billing_month_tables() t WHERE t.name = TG_TABLE_NAME;
  IF v_table.hot = 'billing_reservation' THEN
    SELECT count(*) INTO v_admitted
      FROM moved m JOIN ONLY billing_reservation h ON h.id = m.id AND h *= m
     WHERE billing_stays_because(
             h, v_table.month, v_final, EXISTS (SELECT FROM billing_loss l WHERE l.reservation_id = h.id),
             EXISTS (SELECT FROM billing_stored_replay s WHERE s.reservation_id = h.id)) IS NULL;
  ELSE
    EXECUTE format('SELECT count(*) FROM moved m JOIN ONLY %1$I h ON h.%2$I = m.%2$I AND h *= m'
                   ' WHERE (SELECT true FROM ONLY %3$I c WHERE c.id = m.%2$I)', v_table.hot, v_table.key, v_table.calls)
       INTO v_admitted;
  END IF;
  IF v_admitted IS DISTINCT FROM (SELECT count(*) FROM moved) THEN
    RAISE EXCEPTION '% takes only rows of the hot table that may move', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;


-- The hot table deletes only rows that are in their monthly table, equal in every column, down to the bytes.
CREATE OR REPLACE FUNCTION billing_only_moves() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  v_key text := CASE TG_TABLE_NAME WHEN 'billing_reservation' THEN 'id' WHEN 'billing_transfer' THEN 'source'
                                   ELSE 'reservation_id' END;
  v_gone record;
  v_table record;
  v_moved bigint;
BEGIN
  EXECUTE format('SELECT count(*) AS rows, min(%1$I) AS first, max(%1$I) AS last FROM gone', v_key) INTO v_gone;
  FOR v_table IN
    SELECT t.* FROM billing_month_tables() t
      JOIN pg_inherits i ON i.inhrelid = to_regclass(t.name) AND i.inhparent = TG_RELID
     WHERE t.hot = TG_TABLE_NAME AND t.first_id <= v_gone.last AND t.end_id > v_gone.first
  LOOP
    EXECUTE format('SELECT count(*) FROM gone g WHERE g.%2$I >= %3$L AND g.%2$I < %4$L'
                   ' AND EXISTS (SELECT FROM ONLY %1$I m WHERE m.%2$I = g.%2$I AND m *= g)',
                   v_table.name, v_key, v_table.first_id, v_table.end_id)
       INTO v_moved;
    v_gone.rows := v_gone.rows - v_moved;
  END LOOP;
  IF v_gone.rows <> 0 THEN
    RAISE EXCEPTION '% rows are never changed or deleted, but moved to the table of their month', TG_TABLE_NAME
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;


-- billing_month_indexes() RETURNS TABLE (name text, index text, definition text)
--
-- The indexes that a monthly table must have: those of its hot table, each named after the hot one and the month.
CREATE OR REPLACE FUNCTION billing_month_indexes() RETURNS TABLE (name text, index text, definition text)
LANGUAGE sql STABLE AS $$
  SELECT t.name, c.relname || to_char(t.month, '_YYYY_MM'),
         regexp_replace(pg_get_indexdef(x.indexrelid), '^(CREATE (UNIQUE )?INDEX) \S+ ON (\S+\.)?\S+ USING',
                        format('\1 %I ON \3%I USING', c.relname || to_char(t.month, '_YYYY_MM'), t.name))
    FROM billing_month_tables() t
    JOIN pg_index x ON x.indrelid = to_regclass(t.hot) AND x.indisvalid
    JOIN pg_class c ON c.oid = x.indexrelid
$$;


-- billing_month_triggers() RETURNS TABLE (name text, fires text, function text, type smallint)
--
-- The triggers of each monthly table; `type` is pg_trigger.tgtype.
CREATE OR REPLACE FUNCTION billing_month_triggers() RETURNS TABLE (name text, fires text, function text, type smallint)
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  VALUES ('month_stays', 'BEFORE DELETE OR UPDATE ON %I FOR EACH ROW', 'billing_month_stays', 27::smallint),
         ('month_is_not_emptied', 'BEFORE TRUNCATE ON %I FOR EACH STATEMENT', 'billing_month_stays', 34::smallint),
         ('month_admits', 'AFTER INSERT ON %I REFERENCING NEW TABLE AS moved FOR EACH STATEMENT', 'billing_month_admits',
          4::smallint)
$$;


-- billing_tend_month_table(p_name text) RETURNS integer
--
-- Creates a monthly table's missing indexes and triggers, drops indexes that the hot table no longer has, and returns
-- how many differed. Only moves write to such a table, so that no call waits.
CREATE OR REPLACE FUNCTION billing_tend_month_table(p_name text) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  v_each record;
  v_changed integer := 0;
BEGIN
  FOR v_each IN
    SELECT c.relname FROM pg_index x JOIN pg_class c ON c.oid = x.indexrelid
     WHERE x.indrelid = to_regclass(p_name)
       AND NOT EXISTS (SELECT FROM billing_month_indexes() i WHERE i.name = p_name
                          AND i.definition = pg_get_indexdef(x.indexrelid) AND x.indisvalid)
  LOOP
    EXECUTE format('DROP INDEX %I', v_each.relname);
    v_changed := v_changed + 1;
  END LOOP;
  FOR v_each IN
    SELECT i.definition FROM billing_month_indexes() i WHERE i.name = p_name AND to_regclass(i.index) IS NULL
  LOOP
    EXECUTE v_each.definition;
    v_changed := v_changed + 1;
  END LOOP;
  FOR v_each IN
    SELECT g.name, format(g.fires, p_name) AS fires, g.function FROM billing_month_triggers() g
     WHERE NOT EXISTS (SELECT FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
                        WHERE t.tgrelid = to_regclass(p_name) AND t.tgname = g.name AND t.tgenabled IN ('O', 'A')
                          AND t.tgtype = g.type AND t.tgqual IS NULL AND p.proname = g.function)
  LOOP
    EXECUTE format('DROP TRIGGER IF EXISTS %I ON %I', v_each.name, p_name);
    EXECUTE format('CREATE TRIGGER %I %s EXECUTE FUNCTION %I()', v_each.name, v_each.fires, v_each.function);
    v_changed := v_changed + 1;
  END LOOP;
  RETURN v_changed;
END $$;


-- billing_add_month(p_month date) RETURNS boolean
--
-- Creates the tables of a month that ended at least two days ago, all or none; false if they exist already. For the
-- tables' owner. Only changes to the hot tables' definitions wait for it.
CREATE OR REPLACE FUNCTION billing_add_month(p_month date) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  v_table record;
BEGIN
  IF extract(day FROM p_month) <> 1
     OR clock_timestamp() < (p_month + interval '1 month 2 days') AT TIME ZONE 'UTC' THEN
    RAISE EXCEPTION '% is not a month that has ended', p_month USING ERRCODE = 'invalid_parameter_value';
  END IF;
  INSERT INTO billing_ledger_month (month) VALUES (p_month) ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  FOR v_table IN SELECT t.* FROM billing_month_tables() t WHERE t.month = p_month LOOP
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL EXCLUDING IDENTITY EXCLUDING INDEXES,'
                   ' CONSTRAINT of_the_month CHECK (%s))', v_table.name, v_table.hot, v_table.bounds);
    PERFORM billing_tend_month_table(v_table.name);
    EXECUTE format('ALTER TABLE %I INHERIT %I', v_table.name, v_table.hot);
  END LOOP;
  RETURN true;
END $$;


-- billing_move_calls(p_month date, p_before timestamptz, p_after text, p_limit integer, p_is_trial boolean)
--   RETURNS TABLE (last_id text, looked_at bigint, calls bigint, rows bigint, staying jsonb)
--
-- Checks the next calls of a month in the hot table, at most p_limit in the order of their ids after p_after, and moves
-- those that closed before p_before and can no longer change. A call's usage record and the transfers of its charge
-- move with it; payments, credits, refunds, losses and takeovers stay. A call that is locked is skipped, so that calls
-- wait at most for this transaction, and it waits for none. A trial moves nothing.
--
-- last_id is the last call that was checked, null if there was none; calls the number that moved, or would; rows the
-- same with their related rows, null in a trial; and staying the number that stay, by reason.
CREATE OR REPLACE FUNCTION billing_move_calls(
  p_month date, p_before timestamptz, p_after text, p_limit integer, p_is_trial boolean,
  OUT last_id text, OUT looked_at bigint, OUT calls bigint, OUT rows bigint, OUT staying jsonb)
LANGUAGE plpgsql AS $$
DECLARE
  v_final timestamptz := least(p_before, billing_final_until());
  v_ids text[];
  v_table record;
  v_inserted bigint;
  v_deleted bigint;
BEGIN
  WITH page AS MATERIALIZED (
    SELECT r AS call, r.id,
           EXISTS (SELECT FROM billing_loss l WHERE l.reservation_id = r.id) AS has_loss,
           EXISTS (SELECT FROM billing_stored_replay s WHERE s.reservation_id = r.id) AS has_answer
      FROM ONLY billing_reservation r
     WHERE r.id > p_after AND r.id >= billing_first_id(p_month)
       AND r.id < billing_first_id((p_month + interval '1 month')::date)
     ORDER BY r.id LIMIT p_limit
  ), seen AS (
    SELECT p.id, billing_stays_because(p.call, p_month, v_final, p.has_loss, p.has_answer) AS reason FROM page p
  )
  SELECT max(s.id), count(*), array_agg(s.id ORDER BY s.id) FILTER (WHERE s.reason IS NULL),
         (SELECT coalesce(jsonb_object_agg(n.reason, n.number), '{}')
            FROM (SELECT b.reason, count(*) AS number FROM seen b WHERE b.reason IS NOT NULL GROUP BY b.reason) n)
    INTO last_id, looked_at, v_ids, staying
    FROM seen s;
  calls := coalesce(cardinality(v_ids), 0);
  IF p_is_trial OR calls = 0 THEN
    rows := CASE WHEN NOT p_is_trial THEN 0 END;
    RETURN;
  END IF;

  v_ids := ARRAY(SELECT r.id FROM ONLY billing_reservation r WHERE r.id = ANY (v_ids) FOR UPDATE SKIP LOCKED);
  IF cardinality(v_ids) < calls THEN
    staying := staying || jsonb_build_object('in use', calls - cardinality(v_ids));
    calls := cardinality(v_ids);
  END IF;
  rows := 0;
  FOR v_table IN SELECT t.* FROM billing_month_tables() t WHERE t.month = p_month ORDER BY t.hot LOOP  -- calls first
    EXECUTE format('INSERT INTO %1$I SELECT h.* FROM ONLY %2$I h WHERE h.%3$I = ANY ($1)%4$s ORDER BY h.%3$I',
                   v_table.name, v_table.hot, v_table.key,
                   CASE v_table.hot WHEN 'billing_transfer' THEN ' AND h.kind = ''charge''' ELSE '' END) USING v_ids;
    GET DIAGNOSTICS v_inserted = ROW_COUNT;
    EXECUTE format('DELETE FROM ONLY %1$I h WHERE h.%2$I = ANY ($1)%3$s', v_table.hot, v_table.key,
                   CASE v_table.hot WHEN 'billing_transfer' THEN ' AND h.kind = ''charge''' ELSE '' END) USING v_ids;
    GET DIAGNOSTICS v_deleted = ROW_COUNT;
    IF v_inserted <> v_deleted THEN
      RAISE EXCEPTION '% rows were put into % and % taken away', v_inserted, v_table.name, v_deleted;
    END IF;
    rows := rows + v_inserted;
  END LOOP;
END $$;


-- billing_doubled_rows() RETURNS TABLE (subject text, detail text)
--
-- Rows that are both in the hot table and in a monthly one. It names hot tables only, so that any role that may read
-- those can call it. Both sides have the month's bounds as literals, so that the planner reads only one monthly table,
-- and from the hot table only what stayed of that month.
CREATE OR REPLACE FUNCTION billing_doubled_rows() RETURNS TABLE (subject text, detail text) LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_table record;
BEGIN
  FOR v_table IN SELECT t.* FROM billing_month_tables() t LOOP
    RETURN QUERY EXECUTE format(
      'SELECT h.%2$I::text, %6$L || m.tableoid::regclass FROM ONLY %1$I h JOIN %1$I m ON m.%2$I = h.%2$I'
      ' WHERE h.%2$I >= %3$L AND h.%2$I < %4$L AND m.%2$I >= %3$L AND m.%2$I < %4$L AND m.tableoid <> h.tableoid%5$s',
      v_table.hot, v_table.key, v_table.first_id, v_table.end_id,
      CASE v_table.hot WHEN 'billing_transfer' THEN ' AND m.kind = ''charge'' AND h.kind = m.kind AND h.seq = m.seq' ELSE '' END,
      v_table.hot || ' has the row, and so has ');
  END LOOP;
END $$;
