-- The number of a kind, which is made where it is new.
-- Caller: `kinds.ts`. Index: kind's hash. Locks: its own row.
create or replace function pawl.intern_kind(hash_text text, queue_id int, type_name text, window_length bigint, policy_text text)
returns int language plpgsql set search_path = pawl, pg_temp set jit = off set enable_seqscan = off as $$
begin
  insert into kind (hash, queue, type, window_ms, policy) values (hash_text, queue_id, type_name, window_length, policy_text)
  on conflict (hash) do nothing;
  return (select k.id from kind k where k.hash = hash_text);
end $$;
