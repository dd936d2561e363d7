-- Invoices and credit notes are numbered consecutively from 1, and every issued invoice has its number.
SELECT g.series || ' ' || g.serial, format('follows %s', g.before)
  FROM (SELECT 'invoice' AS series, serial, lag(serial, 1, 0::bigint) OVER (ORDER BY serial) AS before
          FROM billing_invoice WHERE serial IS NOT NULL
        UNION ALL
        SELECT 'credit note', serial, lag(serial, 1, 0::bigint) OVER (ORDER BY serial) FROM billing_credit_note) g
 WHERE g.serial <> g.before + 1
UNION ALL
SELECT i.id, format('status %s, number %s, issued at %s', i.status, i.serial, i.issued_at) FROM billing_invoice i
 WHERE (i.serial IS NULL) <> (i.issued_at IS NULL) OR (i.serial IS NULL) AND i.status NOT IN ('draft', 'void')
    OR i.serial IS NOT NULL AND i.status = 'draft'
