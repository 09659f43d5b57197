-- Of `rest`: since when a job waits to be judged, or until when it is handed out to somebody who does. What nobody has touched since
-- it was enqueued, and could not be claimed, does.
alter table pawl.rest add column judge bigint;
update pawl.rest set judge = 0 where rev is null;
create index rest_judge on pawl.rest (judge) where judge is not null;
