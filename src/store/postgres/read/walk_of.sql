-- The text of a walk: numbers of jobs beyond $5 and up to $6, in their order, $7 of them; of what is over those in a state of $10,
-- ended before $11.
-- Caller: `find_ids`, `walk_of_words`, `walks_in`. Index: none. Locks: none.
create or replace function pawl.walk_of(place text, id_column text, condition text, newest boolean) returns text
language sql immutable as $$
  select format('select s.%2$I as id, %3$s as wanted from %1$I s where %4$s and s.%2$I %5$s $5 and s.%2$I <= $6 order by s.%2$I %6$s limit $7',
    place, id_column, case place when 'job' then 's.lane, s.kind, s.created_at, true'
      when 'past' then 'strpos($10, s.state::text) > 0 and ($11 is null or s.at < $11)' else 'true' end,
    condition, case when newest then '<' else '>' end, case when newest then 'desc' else 'asc' end)
$$;
