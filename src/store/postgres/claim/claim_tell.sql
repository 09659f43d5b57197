-- Tells the feed of a claim whose jobs are still in `ready`: revisions, kinds and shapes, one where all have the same. Where they are
-- not all alike they are looked at once more.
-- Caller: `claim`, under whose planner switches it runs. Index: none, the rows' places are known. Locks: none.
create or replace function pawl.claim_tell(claim_id bigint, claimed_at bigint, tids tid[], one_kind int, any_touched boolean) returns void
language plpgsql as $$
declare
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
end $$;
