-- inference_close_representations(p_closings json, p_bodies bytea[], p_wait boolean) RETURNS TABLE (answer json, body bytea)
--
-- Closes calls as billing_close_calls does, and records in the same transaction the `kept` member of a closing: what
-- the upstream's response stated about a representation.
--
--   configuration: the representation, as far as it is known before a response
--   revision, dimensions, normalized: as stated by the upstream
CREATE OR REPLACE FUNCTION inference_close_representations(p_closings json, p_bodies bytea[], p_wait boolean)
RETURNS TABLE (answer json, body bytea) LANGUAGE plpgsql AS $$
DECLARE
  v_row record;
  v_kept json[] := '{}';
BEGIN
  FOR v_row IN
    SELECT c.* FROM ROWS FROM (json_array_elements(p_closings), billing_close_calls(p_closings, p_bodies, p_wait))
                 AS c (closing, answer, body)
  LOOP
    IF v_row.answer->>'outcome' IN ('settled', 'review') AND v_row.closing->'kept'->>'configuration' IS NOT NULL THEN
      v_kept := array_append(v_kept, v_row.closing->'kept');
    END IF;
    answer := v_row.answer;
    body := v_row.body;
    RETURN NEXT;
  END LOOP;
  PERFORM inference_note_representations(v_kept);
END $$;


-- Records representations in the order of their keys, so that two batches never wait for each other. Unchanged ones
-- cost no write.
CREATE OR REPLACE FUNCTION inference_note_representations(p_kept json[]) RETURNS void
LANGUAGE sql AS $$
  INSERT INTO inference_representation AS r (configuration, revision, dimensions, normalized, answered_at)
  SELECT DISTINCT ON (k.configuration) k.configuration, k.revision, k.dimensions, k.normalized, clock_timestamp()
    FROM unnest(p_kept) AS kept (value),
         json_to_record(kept.value) AS k (configuration text, revision text, dimensions integer, normalized boolean)
   WHERE NOT EXISTS (
           SELECT FROM inference_representation o
            WHERE o.configuration = k.configuration
              AND (o.revision, o.dimensions, o.normalized) = (k.revision, k.dimensions, k.normalized))
   ORDER BY k.configuration
  ON CONFLICT (configuration) DO UPDATE
     SET (revision, dimensions, normalized, answered_at)
       = (excluded.revision, excluded.dimensions, excluded.normalized, excluded.answered_at);
$$;
