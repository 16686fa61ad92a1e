-- A clock that ran ahead and was set back leaves moments that are to come: what was taken then is nobody's any more, and
-- what waits longer than any wait there is (six hours) is due. Ages are never below nothing.
CREATE OR REPLACE FUNCTION take_job(lost_after interval)
  RETURNS TABLE (id bigint, tenant integer, repository integer, kind text, tries integer)
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
$$ DECLARE
  lost bigint;
BEGIN
  -- A worker that was killed leaves its job taken: it is ready again after a while, unless a newer one waits already.
  FOR lost IN SELECT job.id FROM job WHERE job.state = 'taken'
      AND NOT job.taken BETWEEN now() - lost_after AND now() + interval '1 minute' LOOP
    BEGIN
      UPDATE job SET state = 'ready' WHERE job.id = lost;
    EXCEPTION WHEN unique_violation THEN
      DELETE FROM job WHERE job.id = lost;
    END;
  END LOOP;
  RETURN QUERY UPDATE job SET state = 'taken', taken = now(), tries = job.tries + 1 WHERE job.id = (
      SELECT waiting.id FROM job AS waiting WHERE waiting.state = 'ready'
        AND NOT (waiting.due > now() AND waiting.due < now() + interval '7 hours')
        AND NOT EXISTS (SELECT 1 FROM job AS busy WHERE busy.state = 'taken' AND busy.tenant = waiting.tenant)
      ORDER BY waiting.due FOR UPDATE SKIP LOCKED LIMIT 1)
    RETURNING job.id, job.tenant, job.repository, job.kind, job.tries;
END $$;
CREATE OR REPLACE FUNCTION queue() RETURNS TABLE (state text, jobs bigint, oldest interval)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
$$ SELECT job.state, count(*), greatest(max(now() - job.due), interval '0') FROM job GROUP BY job.state $$;
CREATE OR REPLACE FUNCTION freshness() RETURNS TABLE (repositories bigint, never bigint, failing bigint, oldest double precision)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
$$ SELECT count(*), count(*) FILTER (WHERE fetched IS NULL), count(*) FILTER (WHERE problem <> ''),
          greatest(0, extract(epoch FROM now() - min(fetched)))::double precision FROM repository $$;
