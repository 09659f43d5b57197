-- Jobs claimed many at a time have no leases of their own until somebody needs one (0001_tables.sql, `claim`).

-- Gives jobs of a bundle leases of their own. Locks: the bundle, alone: whoever ends jobs of it just now is waited for.
-- Each job is looked up by itself: a plan made while the tables were empty would walk them for each of them.
create function pawl.loosen_from(claim_id bigint, ids bigint[]) returns void
language plpgsql set search_path = pawl, pg_temp set plan_cache_mode = force_generic_plan
set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  it claim%rowtype;
  loosened int;
begin
  -- What others did before they let go must be seen, and would not be in an older snapshot.
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception using errcode = '40001', message = 'jobs claimed together can be parted in a READ COMMITTED transaction only';
  end if;
  perform pg_advisory_xact_lock(hashtextextended('pawl.claim', claim_id));
  select * into it from claim c where c.id = claim_id and c.low is not null for update;
  if not found then return; end if;
  insert into lease (id, claim, expires_at, rev, step)
  select u.id, claim_id, it.at + k.window_ms, 2, 17 from (select unnest(ids) except select unnest(it.loose)) as u(id)
  cross join lateral (select j.kind from job j where j.id = u.id limit 1) j
  cross join lateral (select k.window_ms from kind k where k.id = j.kind limit 1) k
  left join lateral (select p.job from past p where p.job = u.id limit 1) p on true
  where p.job is null;
  get diagnostics loosened = row_count;
  -- Of all of them nothing is left, also where some had ended and were not counted.
  if cardinality(ids) = cardinality(it.jobs) then loosened := it.open; end if;
  update claim c set loose = array(select unnest(it.loose) union select unnest(ids)), open = nullif(c.open - loosened, 0),
    low = case when c.open > loosened then c.low end, high = case when c.open > loosened then c.high end
  where c.id = claim_id;
end $$;

-- Who calls it: whoever is about to look for leases. Index: lease's primary key, claim_bundle; the open bundles are as
-- many as there are big claims under way. A few at a time leave the others together, for they may all end without having
-- been heard of; where one job of a bundle after the other is asked for, parting them one by one is the dearer way (a third
-- of a core for 10,000 running jobs), and of those that live long enough for heartbeats (`all_of_them`) all will be.
create function pawl.loosen(ids bigint[], all_of_them boolean default false) returns void
language plpgsql set search_path = pawl, pg_temp set lock_timeout = '100ms' set jit = off set enable_seqscan = off as $$
declare
  c record;
  of_it bigint[];
begin
  if not exists (select from claim k where k.low is not null) then return; end if;
  ids := array(select u.id from unnest(ids) as u(id)
               left join lateral (select l.id from lease l where l.id = u.id limit 1) l on true where l.id is null);
  for c in select k.id, k.jobs, k.loose from claim k where k.low is not null and k.low <= (select max(u) from unnest(ids) as u)
      and k.high >= (select min(u) from unnest(ids) as u) order by k.id loop
    of_it := array(select unnest(ids) intersect select unnest(c.jobs) except select unnest(c.loose));
    continue when cardinality(of_it) = 0;
    perform loosen_from(c.id, case when all_of_them or cardinality(c.loose || of_it) > 16 then c.jobs else of_it end);
  end loop;
end $$;

-- Who calls it: commit, after ends that were not counted. Locks: the claims. What ends just now is not seen yet and counts
-- itself, or comes back here.
create function pawl.recount(bundles bigint[]) returns void
language plpgsql set search_path = pawl, pg_temp set lock_timeout = '100ms'
set jit = off set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  bundle bigint;
  it claim%rowtype;
  left_open int;
begin
  foreach bundle in array bundles loop
    select * into it from claim k where k.id = bundle and k.low is not null for update;
    continue when not found;
    select nullif(count(*), 0) into left_open from (select unnest(it.jobs) except select unnest(it.loose)) as u(id)
    left join lateral (select p.job from past p where p.job = u.id limit 1) p on true where p.job is null;
    update claim k set open = left_open, low = case when left_open > 0 then k.low end,
      high = case when left_open > 0 then k.high end,
      tick = case when left_open > 0 or k.loose is not null then k.tick end
    where k.id = bundle;
  end loop;
end $$;
