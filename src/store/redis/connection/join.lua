-- Makes this server known to a process, or another server, or another life of it, an epoch of its own. `ids` is the counter of job
-- numbers as the caller has read it, and as it is to be: a server that came back may have forgotten which were given out.
local meta = KEYS[1]
local base = string.sub(meta, 1, -5)
local incarnation, ids_before, ids_after, set_by, process = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local known = redis.call('HMGET', meta, 'epoch', 'incarnation', 'seq', 'layout', 'joining')
if known[4] and known[4] ~= '@LAYOUT@' then
  return { 'layout', known[4] }
end
if known[5] then
  return { 'ledger' }
end
if known[2] == incarnation then
  return { 'joined', known[1] }
end
if (redis.call('HGET', base .. 'set:ids', 'next') or '') ~= ids_before then
  return { 'again' }
end
-- With the names of who made it and of the server's life: a server that has lost its count must not come to an epoch that was there before.
local epoch = string.format('%.0f', (string.match(known[1] or '', '^%d+') or 0) + 1) .. '.' .. process .. '.' .. string.sub(incarnation, 1, 8) .. '.' .. string.sub(incarnation, -8)
if ids_before ~= '' then
  redis.call('HSET', base .. 'set:ids', 'next', ids_after)
end
if not known[1] then
  local clock = redis.call('TIME')
  local now = string.format('%.0f', clock[1] * 1000 + math.floor(clock[2] / 1000) + set_by)
  redis.call('HSET', meta, 'seq', '0', 'name', '-', 'at', now, 'ahead', '0', 'marked', '0', 'layout', '@LAYOUT@')
end
redis.call('HSET', meta, 'epoch', epoch, 'incarnation', incarnation)
return { 'joined', epoch }
