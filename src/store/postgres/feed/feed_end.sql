-- Where the feed ends, and how many jobs were purged by then.
-- Caller: `feed.ts`. Index: none: one row. Locks: none.
create or replace function pawl.feed_end() returns table (now_ms bigint, pos bigint, purged bigint)
language sql volatile set search_path = pawl, pg_temp as $$ select clock(), f.pos, f.purged from feed f $$;
