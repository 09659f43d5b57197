-- Of `ready`: it was handed out to a ticker, and is not before then, as on a lease. Its `tick` stays what it is, because a claim
-- compares it: what is the ticker's is nobody else's meanwhile.
alter table pawl.ready add column again bigint;
