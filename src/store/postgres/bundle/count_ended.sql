-- Takes jobs that have ended or gone back off the counts of their bundles; of a bundle that is empty the claim has no clock any more. Answers with
-- the bundles whose row somebody else has: it is called last and waits for nobody, since two connections settle one bundle, and
-- waiting would hold the row's lock through an fsync.
-- Caller: `put_back`, `settle_bundles`. Index: claim's primary key. Locks: the claims' rows, SKIP LOCKED.
create or replace function pawl.count_ended(bundles bigint[], counts int[]) returns bigint[] language plpgsql as $$
declare
  bundle record;
  uncounted bigint[];
begin
  for bundle in select u.id, sum(u.n)::int as n from unnest(bundles, counts) as u(id, n) group by u.id order by u.id loop
    perform from pawl.claim k where k.id = bundle.id for update skip locked;
    if not found then
      uncounted := uncounted || bundle.id;
      continue;
    end if;
    update pawl.claim k set open = nullif(k.open - bundle.n, 0), low = case when k.open > bundle.n then k.low end,
      high = case when k.open > bundle.n then k.high end,
      tick = case when k.open > bundle.n or k.loose is not null then k.tick end
    where k.id = bundle.id;
  end loop;
  return uncounted;
end $$;
