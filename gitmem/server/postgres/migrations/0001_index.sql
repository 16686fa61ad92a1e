-- The index of many repositories: numbers, oids, paths, keyed hashes of words, and vectors. No text of memory.
--
-- Every row carries its tenant, in every key and join: rows of one tenant lie in one partition, and a tenant can be
-- moved to a machine of its own. Row-level security is forced: a statement without `gitmem.tenant` sees nothing.

CREATE EXTENSION IF NOT EXISTS vector;

CREATE TABLE tenant (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE CHECK (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  created timestamptz NOT NULL DEFAULT now(),
  next_chunk integer NOT NULL DEFAULT 1,
  next_blob integer NOT NULL DEFAULT 1,
  searches_a_minute integer NOT NULL DEFAULT 600,
  most_chunks integer NOT NULL DEFAULT 2000000
);

-- A repository whose memory is indexed. `url` is where it is fetched from; credentials never stand in it.
CREATE TABLE repository (
  tenant integer NOT NULL REFERENCES tenant,
  id integer GENERATED ALWAYS AS IDENTITY,
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  url text NOT NULL,
  added timestamptz NOT NULL DEFAULT now(),
  head text NOT NULL DEFAULT '',  -- the branch that is searched where none is named
  fetched timestamptz,
  expire boolean NOT NULL DEFAULT false,  -- whether its copy may still have what a rewritten history dropped
  problem text NOT NULL DEFAULT '',
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, name)
);

-- Repositories that were taken out, by the number that the audit log has.
CREATE TABLE removed (
  tenant integer NOT NULL,
  repository integer NOT NULL,
  name text NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant, repository)
);

-- Branches and tags as they were indexed last: a commit, and the key of its tree's snapshot.
CREATE TABLE ref (
  tenant integer NOT NULL,
  repository integer NOT NULL,
  name text NOT NULL,
  commit_oid bytea NOT NULL,
  snapshot_key text NOT NULL,
  PRIMARY KEY (tenant, repository, name),
  FOREIGN KEY (tenant, repository) REFERENCES repository ON DELETE CASCADE
);

CREATE TABLE meta (tenant integer NOT NULL, key text NOT NULL, value text NOT NULL, PRIMARY KEY (tenant, key));

CREATE TABLE embedder (
  tenant integer NOT NULL,
  id integer NOT NULL,
  name text NOT NULL,
  spec text NOT NULL,
  dims integer NOT NULL,
  in_force boolean NOT NULL,
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, name)
);

-- A Git blob that was parsed, by oid.
CREATE TABLE blob (
  tenant integer NOT NULL,
  id integer NOT NULL,
  oid bytea NOT NULL,
  bytes integer NOT NULL,
  secrets integer NOT NULL,
  problems integer NOT NULL,
  skipped text NOT NULL,
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, oid)
) PARTITION BY HASH (tenant);

-- A distinct text of a tenant, by keyed hash. `norm` is its length in steps of words plus 1 (one byte), `record` what
-- is kept of its lines, `bits` are the signs of its vector and `embedding` its int8 numbers, NULL for one without a word
-- that an embedder knows.
CREATE TABLE chunk (
  tenant integer NOT NULL,
  id integer NOT NULL,
  hash bytea NOT NULL,
  norm smallint NOT NULL,
  record bytea NOT NULL,
  embedder integer,
  bits bit varying,
  embedding halfvec,
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, hash)
) PARTITION BY HASH (tenant);
ALTER TABLE chunk ALTER COLUMN embedding SET STORAGE PLAIN;

-- Where a chunk stands in a blob.
CREATE TABLE place (
  tenant integer NOT NULL,
  blob integer NOT NULL,
  ordinal integer NOT NULL,
  chunk integer NOT NULL,
  first integer NOT NULL,
  last integer NOT NULL,
  heading integer NOT NULL,
  PRIMARY KEY (tenant, blob, ordinal)
) PARTITION BY HASH (tenant);
CREATE INDEX place_chunk ON place (tenant, chunk);

-- The words of the chunks first_chunk..last_chunk, written at once. `rows` of a word are its occurrences as 64-bit
-- little-endian numbers (chunk << 24 | position << 1 | in the heading), ascending; `chunks` is in how many it stands.
CREATE TABLE segment (
  tenant integer NOT NULL,
  id integer NOT NULL,
  first_chunk integer NOT NULL,
  last_chunk integer NOT NULL,
  PRIMARY KEY (tenant, id)
);
CREATE TABLE posting (
  tenant integer NOT NULL,
  term bigint NOT NULL,
  segment integer NOT NULL,
  chunks integer NOT NULL,
  rows bytea NOT NULL,
  PRIMARY KEY (tenant, term, segment)
) PARTITION BY HASH (tenant);
CREATE INDEX posting_segment ON posting (tenant, segment);

-- A set of (path, blob): the memory files of one tree of one repository. `norms` has a byte a chunk id, 0 outside.
CREATE TABLE snapshot (
  tenant integer NOT NULL,
  id integer GENERATED ALWAYS AS IDENTITY,
  repository integer NOT NULL,
  key text NOT NULL,
  norms bytea NOT NULL,
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, repository, key),
  FOREIGN KEY (tenant, repository) REFERENCES repository ON DELETE CASCADE
);
CREATE TABLE entry (
  tenant integer NOT NULL,
  snapshot integer NOT NULL,
  path bytea NOT NULL,
  blob integer NOT NULL,
  corpus smallint NOT NULL,
  PRIMARY KEY (tenant, snapshot, path)
) PARTITION BY HASH (tenant);
CREATE INDEX entry_blob ON entry (tenant, blob, snapshot);

DO $$
DECLARE
  name text;
  part integer;
BEGIN
  FOREACH name IN ARRAY ARRAY['blob', 'chunk', 'place', 'posting', 'entry'] LOOP
    FOR part IN 0..15 LOOP
      EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS 16, REMAINDER %s)',
                     name || '_' || part, name, part);
    END LOOP;
  END LOOP;
END $$;

-- Who may ask. Only the SHA-256 of a token is kept. `repositories` is NULL for all of the tenant's.
CREATE TABLE token (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant integer NOT NULL REFERENCES tenant,
  hash bytea NOT NULL UNIQUE,
  name text NOT NULL,
  scope text NOT NULL CHECK (scope IN ('read', 'propose', 'admin')),
  repositories integer[],
  created timestamptz NOT NULL DEFAULT now(),
  expires timestamptz,
  revoked timestamptz
);

-- Work on repositories: taken with SKIP LOCKED, tried again with growing waits, `dead` after the last try.
CREATE TABLE job (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant integer NOT NULL REFERENCES tenant,
  repository integer NOT NULL,
  kind text NOT NULL CHECK (kind IN ('fetch', 'remove')),
  state text NOT NULL DEFAULT 'ready' CHECK (state IN ('ready', 'taken', 'dead')),
  due timestamptz NOT NULL DEFAULT now(),
  taken timestamptz,
  tries integer NOT NULL DEFAULT 0,
  problem text NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX job_waiting ON job (tenant, repository, kind) WHERE state = 'ready';
CREATE INDEX job_due ON job (due) WHERE state = 'ready';

-- Deliveries of webhooks that were seen, so that one sent again does nothing.
CREATE TABLE delivery (forge text, id text, received timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (forge, id));

-- Who asked, of which repositories, how many hits: never the question, never an answer. Rows are only ever added.
CREATE TABLE audit (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now(),
  tenant integer NOT NULL,
  token integer,
  action text NOT NULL,
  repositories integer[] NOT NULL DEFAULT '{}',
  hits integer NOT NULL DEFAULT 0,
  status integer NOT NULL DEFAULT 200
);
CREATE INDEX audit_tenant ON audit (tenant, at);
CREATE FUNCTION audit_is_kept() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'the audit log is only ever added to'; END $$;
CREATE TRIGGER audit_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON audit EXECUTE FUNCTION audit_is_kept();

-- The role of the server and its workers: no table is its own, and it cannot leave the tenant it is set to.
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['repository', 'removed', 'ref', 'meta', 'embedder', 'blob', 'chunk', 'place', 'segment', 'posting',
                              'snapshot', 'entry', 'audit'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY own ON %I USING (tenant = nullif(current_setting(''gitmem.tenant'', true), '''')::integer)',
                   name);
  END LOOP;
END $$;
-- A temporary table of the server's must not stand in the place of one of ours.
DO $$ BEGIN EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database()); END $$;
GRANT USAGE ON SCHEMA public TO gitmem_server;
GRANT SELECT, INSERT, UPDATE, DELETE ON repository, removed, ref, meta, embedder, blob, chunk, place, segment, posting, snapshot,
  entry TO gitmem_server;
GRANT INSERT, SELECT ON audit TO gitmem_server;
GRANT SELECT, INSERT, DELETE ON delivery TO gitmem_server;

-- What the server has to know before it knows a tenant, or of all of them, and no more than that.
CREATE FUNCTION token_of(given bytea) RETURNS TABLE (id integer, tenant integer, name text, scope text, repositories integer[])
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
$$ SELECT token.id, token.tenant, token.name, token.scope, token.repositories FROM token
   WHERE token.hash = given AND revoked IS NULL AND (expires IS NULL OR expires > now()) $$;
CREATE FUNCTION limits_of_tenant() RETURNS TABLE (searches_a_minute integer, most_chunks integer)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
$$ SELECT tenant.searches_a_minute, tenant.most_chunks FROM tenant
   WHERE tenant.id = nullif(current_setting('gitmem.tenant', true), '')::integer $$;
CREATE FUNCTION take_numbers(blobs integer, chunks integer) RETURNS TABLE (first_blob integer, first_chunk integer)
  LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
$$ UPDATE tenant SET next_blob = next_blob + blobs, next_chunk = next_chunk + chunks
   WHERE tenant.id = nullif(current_setting('gitmem.tenant', true), '')::integer
   RETURNING next_blob - blobs, next_chunk - chunks $$;
CREATE FUNCTION put_job(of_repository integer, of_kind text, wait interval) RETURNS void
  LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
$$ INSERT INTO job (tenant, repository, kind, due)
   VALUES (nullif(current_setting('gitmem.tenant', true), '')::integer, of_repository, of_kind, now() + wait)
   ON CONFLICT (tenant, repository, kind) WHERE state = 'ready' DO UPDATE SET due = least(job.due, excluded.due) $$;
CREATE FUNCTION take_job(lost_after interval) RETURNS TABLE (id bigint, tenant integer, repository integer, kind text, tries integer)
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
$$ DECLARE
  lost bigint;
BEGIN
  -- A worker that was killed leaves its job taken: it is ready again after a while, unless a newer one waits already.
  FOR lost IN SELECT job.id FROM job WHERE job.state = 'taken' AND job.taken < now() - lost_after LOOP
    BEGIN
      UPDATE job SET state = 'ready' WHERE job.id = lost;
    EXCEPTION WHEN unique_violation THEN
      DELETE FROM job WHERE job.id = lost;
    END;
  END LOOP;
  RETURN QUERY UPDATE job SET state = 'taken', taken = now(), tries = job.tries + 1 WHERE job.id = (
      SELECT waiting.id FROM job AS waiting WHERE waiting.state = 'ready' AND waiting.due <= now()
        AND NOT EXISTS (SELECT 1 FROM job AS busy WHERE busy.state = 'taken' AND busy.tenant = waiting.tenant)
      ORDER BY waiting.due FOR UPDATE SKIP LOCKED LIMIT 1)
    RETURNING job.id, job.tenant, job.repository, job.kind, job.tries;
END $$;
CREATE FUNCTION end_job(of_id bigint, failure text, wait interval, most integer) RETURNS void
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
$$ BEGIN
  IF failure = '' THEN
    DELETE FROM job WHERE job.id = of_id;
  ELSE
    UPDATE job SET state = CASE WHEN tries >= most THEN 'dead' ELSE 'ready' END, due = now() + wait, problem = failure
      WHERE job.id = of_id;
  END IF;
EXCEPTION WHEN unique_violation THEN  -- a newer one waits already
  DELETE FROM job WHERE job.id = of_id;
END $$;
CREATE FUNCTION hooked_repository(given text) RETURNS TABLE (tenant integer, repository integer)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
$$ SELECT repository.tenant, repository.id FROM repository WHERE repository.url = given $$;
CREATE FUNCTION idle_repositories() RETURNS TABLE (tenant integer, repository integer, fetched timestamptz)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
$$ SELECT repository.tenant, repository.id, repository.fetched FROM repository WHERE NOT EXISTS
   (SELECT 1 FROM job WHERE job.tenant = repository.tenant AND job.repository = repository.id) $$;
CREATE FUNCTION queue() RETURNS TABLE (state text, jobs bigint, oldest interval)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
$$ SELECT job.state, count(*), max(now() - job.due) FROM job GROUP BY job.state $$;
CREATE POLICY of_owner ON repository TO CURRENT_USER USING (true);  -- for the two functions above
REVOKE ALL ON FUNCTION token_of, limits_of_tenant, take_numbers, put_job, take_job, end_job, hooked_repository,
  idle_repositories, queue FROM PUBLIC;
GRANT EXECUTE ON FUNCTION token_of, limits_of_tenant, take_numbers, put_job, take_job, end_job, hooked_repository,
  idle_repositories, queue TO gitmem_server;
