-- Who waits for jobs hears of a new one at once. A notice says no more than that there is one.
CREATE OR REPLACE FUNCTION put_job(of_repository integer, of_kind text, wait interval) RETURNS void
  LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
$$ INSERT INTO job (tenant, repository, kind, due)
   VALUES (nullif(current_setting('gitmem.tenant', true), '')::integer, of_repository, of_kind, now() + wait)
   ON CONFLICT (tenant, repository, kind) WHERE state = 'ready' DO UPDATE SET due = least(job.due, excluded.due);
   SELECT pg_notify('gitmem_job', '') $$;
-- Each push deletes what is too old.
CREATE INDEX delivery_received ON delivery (received);
