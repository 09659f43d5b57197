-- Forgets that keys were freed where nobody waits for them; looks at `most` rows that say so. A round that is putting a flow to wait at one of them at
-- this moment finds its version raised, and begins again. Answers whether there may be more.
-- Caller: `rounds.ts`. Index: arrival_key, flow_waits, flow_key's primary key, pace_key. Locks: the keys, in their order.
create or replace function pawl.flow_sweep(most int) returns boolean
language plpgsql set search_path = pawl, pg_temp set lock_timeout = '1s' set jit = off set enable_seqscan = off
set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
declare
  started bigint := clock();
  of_keys int[];
  found bigint;
  rated record;
begin
  select count(*), array_agg(distinct -a.key) into found, of_keys from (select a.key from arrival a where a.key < 0 order by a.key limit most) as a;
  if found = 0 then return false; end if;
  perform from flow_key k where k.id = any(of_keys) order by k.id for no key update;
  -- Who waits is asked by a later statement than the one that may have waited.
  of_keys := array(select u.key from unnest(of_keys) as u(key) where not exists (select from flow f where f.waits_at = 'key ' || u.key));
  perform set_config('synchronous_commit', 'off', true);
  update flow_key k set version = k.version + 1 where k.id = any(of_keys);
  for rated in select k.id, k.rate_ms from flow_key k where k.id = any(of_keys) and k.rate_ms > 0 loop
    delete from pace p where p.key = rated.id and p.claimed <= started - rated.rate_ms;
  end loop;
  delete from arrival a where a.key = any(array(select -unnest(of_keys)));
  return found = most;
end $$;
