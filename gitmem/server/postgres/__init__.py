"""The shared index in PostgreSQL: connections, migrations, what search reads and what the ingest writes."""
