-- Logs: what happened, commit by commit, each of which can be read by itself, so that no page reads more of a log than it shows:
-- with the job it is about, the claim and the heartbeats that are not in the text, the rank of the state that the claim came from,
-- and, of a text that follows another one, that one. Sorting is switched off in functions that walk it where the index is in order
-- already: of a log that is thought to be short, all would be read and sorted for one row.
-- Caller: `caused`, `commits_at`, `log`, `logs`. Index: past's and job's primary keys. Locks: none.
create or replace view pawl.stretch as
select p.job, j.created_at, j.kind, j.lane, j.head, p.at, p.from_rev, p.rev,
  case when p.claim > 0 then p.from_step & {{mask.rank}} end as rank,
  case when p.from_rev > 1 and p.events like '[0,%' then (
    select json_build_array(case when b.claim > 0 then pawl.claim_words(b.claim) end, b.beats, b.events) from pawl.past b
    where b.job = p.job and b.from_rev < p.from_rev order by b.job, b.from_rev desc limit 1
  ) end as before,
  case when p.claim > 0 then pawl.claim_words(p.claim) end as claim, p.beats, p.events
from pawl.past p join pawl.job j on j.id = p.job;
