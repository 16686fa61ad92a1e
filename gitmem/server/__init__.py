"""The shared index of an organisation: many repositories, one search, over PostgreSQL. Extra `server`."""
