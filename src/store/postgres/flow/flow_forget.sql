-- Removes a key, if it is at that revision and no job is held, stands or is owned under it, with the flows that name it. A transaction
-- that brings a job for one of them at this moment comes first, or finds that the flow is gone.
-- Caller: `flow_set`. Index: flow_key's tenant and key, flow_keys, slot's primary key, ready's primary key, arrival_flow, arrival_key, spend_key, pace_key.
-- Locks: the key, its flows.
create or replace function pawl.flow_forget(of_tenant text, of_name text, of_rev int) returns boolean language plpgsql
set search_path = pawl, pg_temp as $$
declare
  it flow_key;
  flows int[];
begin
  select * into it from flow_key k where k.tenant = of_tenant and k.key = of_name and k.rev = of_rev for update;
  if not found then return false; end if;
  flows := array(select f.id from flow f where f.keys @> array[it.id] order by f.id for update);
  -- A later statement sees the jobs of transactions that came before the locks.
  if exists (select from slot s where s.key = it.id)
     or exists (select from unnest(flows) as f(id) cross join lateral (select from ready r where r.lane = -f.id limit 1) r) then
    return false;
  end if;
  delete from arrival a where a.key = it.id;
  delete from arrival a where a.key = -it.id;
  delete from arrival a where a.flow = any(flows);
  delete from flow f where f.id = any(flows);
  delete from spend w where w.key = it.id;
  delete from pace p where p.key = it.id;
  delete from flow_key k where k.id = it.id;
  return true;
end $$;
