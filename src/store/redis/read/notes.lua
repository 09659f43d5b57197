-- The late words about a job.
return { now_text, call('HGET', meta, 'purged') or '0', call('HVALS', base .. 'notes:' .. ARGV[3]) }
