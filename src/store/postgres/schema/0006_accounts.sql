-- Who is the last to wait at a place on one account: flows of one weigher have the turns of one among them.
create index flow_account on pawl.flow (waits_at, priority, weigher, pass) where waits_at is not null;
