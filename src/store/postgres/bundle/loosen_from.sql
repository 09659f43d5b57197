-- Gives jobs of one claim leases of their own, if the claim is a bundle; of those that have ended it only notes that they are not in
-- it. Each job is looked up by itself: a plan made while the tables were empty would walk them for each of them.
-- Caller: `claim_replay`, `leave_bundles`, `loosen`, `loosen_if_free`. Index: lease's, job's, kind's and past's primary keys. Locks: the bundle,
-- alone: statements that end jobs of it just now are waited for; then its claim's row.
create or replace function pawl.loosen_from(claim_id bigint, ids bigint[]) returns void
language plpgsql set search_path = pawl, pg_temp set plan_cache_mode = force_generic_plan
set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  it claim%rowtype;
  loosened int;
begin
  if not exists (select from claim c where c.id = claim_id and c.low is not null) then return; end if;
  -- What others did before they let go must be seen, and would not be in an older snapshot.
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception using errcode = '40001', message = 'jobs claimed together can be parted in a READ COMMITTED transaction only';
  end if;
  perform pg_advisory_xact_lock(hashtextextended('pawl.claim', claim_id));
  select * into it from claim c where c.id = claim_id and c.low is not null for update;
  if not found then return; end if;
  -- The end of the lease is what the claim answered with.
  insert into lease (id, claim, expires_at, rev, step)
  select u.id, claim_id, {{leaseEnd(it.at, k.window_ms)}}, {{rev.claimed}}, {{step.claimed}} from (select unnest(ids) except select unnest(it.loose)) as u(id)
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
