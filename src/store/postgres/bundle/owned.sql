-- Every job that somebody owns, with what a lease says of it: those that have a row in `lease`, and those that are in a bundle. A
-- claim of many untouched jobs is a bundle: its row has their numbers, and a job gets a lease when somebody needs one
-- (`loosen_from`). A bundle's job that is neither in `loose` nor in `past` is owned; its lease ends at `at` plus the window of its
-- kind. `logged`: the claim's event is in `past`, and `doc` is the record; else `doc` is the record before the claim. For walks
-- over all of them; a look at one job asks `owned_of`, since here every open bundle would be taken apart for it.
-- Caller: `events`, `jobs`, `walks_in`. Index: lease's primary key; claim_bundle, past's, job's and kind's primary keys. Locks: none.
create or replace view pawl.owned as
select l.id, abs(l.claim) as claim, l.claim < 0 as logged, l.expires_at, l.rev, l.step, l.doc, l.beat from pawl.lease l
union all
select u.id, c.id, false,
  -- Looked up only where it is asked for.
  {{leaseEnd(c.at, (select k.window_ms from pawl.job j join pawl.kind k on k.id = j.kind where j.id = u.id))}},
  {{rev.claimed}}, {{step.claimed}}::bigint, null, null
from pawl.claim c cross join lateral unnest(c.jobs) as u(id)
where c.low is not null and (c.loose is null or u.id <> all(c.loose))
  and not exists (select from pawl.past p where p.job = u.id);
