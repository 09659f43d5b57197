-- Gives a claim its number, tells the feed of it, and takes its jobs out of `ready`: each into a lease, but for those of a bundle, of
-- which the claim's own row is all there is. The feed has revisions, kinds and shapes once where all have the same; where they are not
-- all alike they are looked at once more, while they are still there.
-- Caller: `claim`, `claim_limited`, under whose planner switches it runs. Index: none, the rows' places are known. Locks: none but the rows', which
-- the caller has.
create or replace function pawl.claim_stamp(claimed_at bigint, tids tid[], one_kind int, any_touched boolean, is_bundle boolean) returns bigint
language plpgsql as $$
declare
  claim_id bigint := nextval('pawl.claim_id_seq');
  kinds int[] := array[one_kind];
  revs int[] := '{ {{rev.claimed}} }';
  shapes text[] := '{ {{claim.shape}} }';
begin
  if one_kind is null then
    kinds := array(select r.kind from unnest(tids) with ordinality as u(tid, n) join pawl.ready r on r.ctid = u.tid order by u.n);
  end if;
  if any_touched then
    select case when min(r.rev) = max(r.rev) then array[min(r.rev)] else array_agg(r.rev order by r.n) end,
           case when min(r.shape) = max(r.shape) then array[min(r.shape)] else array_agg(r.shape order by r.n) end
      into revs, shapes
    from (select u.n, coalesce(r.rev, 1) + 1 as rev, case coalesce(r.step, {{step.enqueued}}) & {{mask.rank}} {{claim.shapes}} end as shape
          from unnest(tids) with ordinality as u(tid, n) join pawl.ready r on r.ctid = u.tid) as r;
  end if;
  insert into pawl.entry (at, claim, jobs, revs, kinds, shapes) values (claimed_at, claim_id, '{}', revs, kinds, shapes);
  if is_bundle then delete from pawl.ready r where r.ctid = any(tids);
  else
    with gone as (
      delete from pawl.ready r where r.ctid = any(tids)
      -- The end of the lease is computed again by the caller: sending it cost more.
      returning r.id, {{leaseEnd(claimed_at, r.window_ms)}} as expires_at, r.rev, r.step, r.careful, r.tick, r.doc
    )
    insert into pawl.lease (id, claim, expires_at, rev, step, from_step, careful, tick, doc)
    select r.id, claim_id, r.expires_at, coalesce(r.rev, 1) + 1,
           ((coalesce(r.step, {{step.enqueued}}) >> {{bits.attempt}}) + 1 << {{bits.attempt}}) + {{rank.claimed}},
           r.step, r.careful, r.tick, r.doc
    from gone r;
  end if;
  return claim_id;
end $$;
