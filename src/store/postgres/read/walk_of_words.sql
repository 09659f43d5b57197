-- The text of a walk over all jobs that have one of the words in $8.
-- Caller: `find_ids`. Index: none. Locks: none.
create or replace function pawl.walk_of_words(place text, id_column text, word_column text, newest boolean) returns text
language sql immutable set search_path = pawl, pg_temp as $$
  select format('select w.* from unnest($8::text[]) as u(word) cross join lateral (%s) as w order by w.id %s limit $7',
    walk_of(place, id_column, format('s.%I = u.word', word_column), newest), case when newest then 'desc' else 'asc' end)
$$;
