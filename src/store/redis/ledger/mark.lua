-- Somebody joins this server, in this epoch: calls of an older one are refused from here on, and so is who joins in one. Jobs that were
-- kept here without a ledger are in none: who would join with one is told, and nothing is touched.
local meta = KEYS[1]
local epoch = ARGV[1]
local known = redis.call('HMGET', meta, 'joining', 'epoch')
if known[2] and not known[1] then
  return 'alone'
end
if tonumber(epoch) <= tonumber(known[1] or '0') then
  return 'no'
end
redis.call('HSET', meta, 'joining', epoch)
redis.call('HDEL', meta, 'pages')
return 'yes'
