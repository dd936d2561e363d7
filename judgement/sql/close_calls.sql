-- judgement_close_calls(p_closings json, p_bodies bytea[], p_wait boolean) RETURNS TABLE (answer json, body bytea)
--
-- Closes calls as billing_close_calls does, and in the same transaction counts the answers that clients received. `kept`
-- of a closing contains:
--
--   identity: the alias and version that answered
--   tally: a list with the `kind` of the question and the `bucket` of each answer
--
-- A closing that changes nothing counts nothing. Counts are written last and in a fixed order, so that transactions cannot
-- deadlock, and in a shard of the server's process, so that few have to wait.
CREATE OR REPLACE FUNCTION judgement_close_calls(p_closings json, p_bodies bytea[], p_wait boolean)
RETURNS TABLE (answer json, body bytea) LANGUAGE plpgsql AS $$
DECLARE
  v_row record;
  v_kept json[];
BEGIN
  FOR v_row IN
    SELECT c.* FROM ROWS FROM (json_array_elements(p_closings), billing_close_calls(p_closings, p_bodies, p_wait))
                 AS c (closing, answer, body)
  LOOP
    IF v_row.answer->>'outcome' IN ('settled', 'review') AND v_row.closing->'kept' IS NOT NULL THEN
      v_kept := v_kept || (v_row.closing->'kept');
    END IF;
    answer := v_row.answer;
    body := v_row.body;
    RETURN NEXT;
  END LOOP;
  IF v_kept IS NOT NULL THEN
    PERFORM judgement_count(v_kept, (clock_timestamp() AT TIME ZONE 'UTC')::date);
  END IF;
END $$;


-- Adds the tallies of several answers. A day has at most 100 identities. If a backend reports more versions, the others are
-- counted together, under its alias and `*`.
CREATE OR REPLACE FUNCTION judgement_count(p_kept json[], p_day date) RETURNS void LANGUAGE sql AS $$
  WITH known AS (
    SELECT DISTINCT c.identity FROM judgement_answercount c WHERE c.day = p_day
  ), tallied AS (
    SELECT CASE WHEN k.kept->>'identity' IN (SELECT identity FROM known) OR (SELECT count(*) FROM known) < 100
                THEN k.kept->>'identity' ELSE split_part(k.kept->>'identity', '/', 1) || '/*' END AS identity,
           t.kind, t.bucket, count(*) AS count
      FROM unnest(p_kept) AS k (kept), json_to_recordset(k.kept->'tally') AS t (kind text, bucket smallint)
     GROUP BY 1, 2, 3
  )
  INSERT INTO judgement_answercount AS c (day, identity, kind, bucket, shard, count)
  SELECT p_day, t.identity, t.kind, t.bucket, pg_backend_pid() % 8, t.count FROM tallied t ORDER BY 2, 3, 4
  ON CONFLICT (day, identity, kind, bucket, shard) DO UPDATE SET count = c.count + EXCLUDED.count
$$;
