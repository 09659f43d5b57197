-- Takes jobs out of `ready` and gives each a lease of this claim.
-- Caller: `claim`, under whose planner switches it runs. Index: none, the rows' places are known. Locks: none but the rows', which
-- the caller has.
create or replace function pawl.claim_stamp(claim_id bigint, claimed_at bigint, tids tid[]) returns void language plpgsql as $$
begin
  with gone as (
    delete from pawl.ready r where r.ctid = any(tids)
    -- `leaseEnd` of core/timers.ts, which the caller computes again: sending it cost more.
    returning r.id, claimed_at + r.window_ms as expires_at, r.rev, r.step, r.careful, r.tick, r.doc
  )
  insert into pawl.lease (id, claim, expires_at, rev, step, from_step, careful, tick, doc)
  select r.id, claim_id, r.expires_at, coalesce(r.rev, 1) + 1,
         ((coalesce(r.step, {{step.enqueued}}) >> {{bits.attempt}}) + 1 << {{bits.attempt}}) + {{rank.claimed}},
         r.step, r.careful, r.tick, r.doc
  from gone r;
end $$;
