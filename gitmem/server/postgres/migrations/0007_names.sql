-- The words of the names of files, as keyed hashes: a question finds a note by what it is called.
CREATE TABLE file_name (
  tenant integer NOT NULL,
  snapshot integer NOT NULL,
  term bigint NOT NULL,
  path bytea NOT NULL,
  PRIMARY KEY (tenant, term, snapshot, path)
) PARTITION BY HASH (tenant);
CREATE INDEX file_name_snapshot ON file_name (tenant, snapshot);

DO $$
BEGIN
  FOR part IN 0..15 LOOP
    EXECUTE format('CREATE TABLE file_name_%s PARTITION OF file_name FOR VALUES WITH (MODULUS 16, REMAINDER %s)', part, part);
  END LOOP;
END $$;

ALTER TABLE file_name ENABLE ROW LEVEL SECURITY;
ALTER TABLE file_name FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON file_name USING (tenant = nullif(current_setting('gitmem.tenant', true), '')::integer);
GRANT SELECT, INSERT, UPDATE, DELETE ON file_name TO gitmem_server;
