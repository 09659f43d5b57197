-- The wall, whatever a caller says: a job goes forward, ends where ended jobs are, and counts attempts by claims. Null is wrong, too.
-- Caller: `move_sets`, `move_staying`, `put_back`. Index: none. Locks: none.
create or replace function pawl.is_wrong(from_step bigint, to_step bigint, from_rev int, to_rev int, place text, is_claim boolean)
returns boolean language sql immutable as $$
  select to_rev <= from_rev or place not in ('r', 'l', 's', 'p') or (place = 'p') <> (to_step & {{mask.rank}} = {{rank.ended}})
    or to_step < from_step or case
      when to_step >> {{bits.generation}} = from_step >> {{bits.generation}} then
        (to_step >> {{bits.attempt}}) - (from_step >> {{bits.attempt}}) <> case when is_claim then 1 else 0 end
        or (from_step & {{mask.rank}} = {{rank.ended}} and to_step <> from_step)
      else from_step & {{mask.rank}} <> {{rank.ended}} or to_step >> {{bits.generation}} <> (from_step >> {{bits.generation}}) + 1
        or (to_step >> {{bits.attempt}}) & {{mask.attempt}} <> (from_step >> {{bits.attempt}}) & {{mask.attempt}} end
$$;
