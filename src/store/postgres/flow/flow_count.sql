-- What is taken of a key, as core counts it (`countOf` of core/flow/slots.ts): slots; those let in at or after `since`; for a rate, what
-- nobody has claimed yet and what was claimed within the window, with the oldest of those claims. What the gate does not ask for is not counted.
-- Caller: `flow_views`. Index: slot's primary key, pace_key. Locks: none.
create or replace function pawl.flow_count(of_key int, of_since bigint, of_rate_ms bigint, started bigint,
  out taken int, out taken_since int, out started_within int, out oldest bigint) language plpgsql stable as $$
begin
  select count(*), count(*) filter (where s.let_in >= of_since), count(*) filter (where s.claimed is null or s.claimed > started - of_rate_ms),
         min(s.claimed) filter (where s.claimed > started - of_rate_ms)
    into taken, taken_since, started_within, oldest from pawl.slot s where s.key = of_key;
  if of_rate_ms = 0 then
    started_within := 0;
    oldest := null;
  else
    select started_within + count(*), least(oldest, min(p.claimed)) into started_within, oldest
    from pawl.pace p where p.key = of_key and p.claimed > started - of_rate_ms;
  end if;
end $$;
