-- Jobs that are owned without a lease of their own. A claim of many untouched jobs is a bundle: its row has their numbers, and a
-- job gets a lease when somebody needs one (`loosen_from`). One that is neither in `loose` nor in `past` is owned; its lease ends
-- at `at` plus the window of its kind.
-- Caller: `events`, `walks_in`. Index: claim_bundle, past's primary key. Locks: none.
create or replace view pawl.bundled as
select u.id, c.id as claim, c.at from pawl.claim c cross join lateral unnest(c.jobs) as u(id)
where c.low is not null and (c.loose is null or u.id <> all(c.loose))
  and not exists (select from pawl.past p where p.job = u.id);
