-- The texts of walks over where records of these states stand: each place by the index that knows its states; successes, which
-- are nearly all that is over, among all that is over.
-- Caller: `find_ids`. Index: none. Locks: none.
create or replace function pawl.walks_in(states text, newest boolean) returns text[]
language sql immutable set search_path = pawl, pg_temp as $$
  select array_agg(walk_of(v.place, v.id_column, v.condition, newest)) from (
    -- Whose claim is not in the log is claimed, and nothing else.
    select 'owned', 'id', case when states ~ '{{state.claimed}}' then 'true' else 's.logged' end where states ~ '[{{states.leased}}]'
    union all select 'ready', 'id', 'true' where states ~ '{{state.queued}}'
    union all select 'past', 'job', 'true' where states ~ '{{state.succeeded}}'
    union all select 'ready', 'id', format('s.doc is not null and substr(s.doc, 7, 1) = %L', l)
      from regexp_split_to_table(states, '') as l where l ~ '[{{states.readyLater}}]' and states !~ '{{state.queued}}'
    union all select 'rest', 'id', format('coalesce(substr(s.doc, 7, 1), ''{{state.pending}}'') = %L', l)
      from regexp_split_to_table(states, '') as l where l ~ '[{{states.resting}}]'
    union all select 'past', 'job', format('s.state <> ''{{state.succeeded}}'' and s.state = %L', l)
      from regexp_split_to_table(states, '') as l where l ~ '[{{states.unhappy}}]' and states !~ '{{state.succeeded}}'
  ) as v(place, id_column, condition)
$$;
