-- A note stays as it was written; a closing deletes those about its account. SQLSTATE restrict_violation.
CREATE OR REPLACE FUNCTION accounts_note_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a note is never changed' USING ERRCODE = 'restrict_violation';
END $$;

CREATE OR REPLACE TRIGGER note_stays BEFORE UPDATE ON accounts_note
    FOR EACH ROW EXECUTE FUNCTION accounts_note_stays();
