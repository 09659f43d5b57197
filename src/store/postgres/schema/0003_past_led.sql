-- Commits that are not a plain success by where they led and when, instead of by when alone: who looks for events of a type looks
-- where such events lead, and reads nothing of what else there was meanwhile. The key is the letter of the end, or the digit of
-- the live state's rank. 8 bytes more for each such commit, and nothing for plain successes, which are in neither.
drop index pawl.past_odd;
create index past_led on pawl.past (coalesce(state, chr(48 + (to_step & 15)::int)::"char"), at, job) where not plain;
