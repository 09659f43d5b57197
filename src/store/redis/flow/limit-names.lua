-- Names of a tenant's keys in their order, behind one of them, so many at most.
return { now_text, call('ZRANGE', base .. 'limits:' .. ARGV[3], ARGV[4] == '' and '-' or '(' .. ARGV[4], '+', 'BYLEX', 'LIMIT', 0, ARGV[5]) }
