-- This server fits the ledger, by pages or by entries, if it still is what it was made: it takes calls of its joiner's epoch.
local meta = KEYS[1]
local epoch, incarnation, head, name, at, copy, evicted, pages = unpack(ARGV)
local known = redis.call('HMGET', meta, 'joining', 'logged', 'loggedAs', 'pages', 'at', 'seq', 'evicted')
if known[1] ~= epoch then
  return 'no'
elseif pages ~= '-' then
  if (known[4] or '0') ~= pages then
    return 'no'
  end
elseif (known[2] or '0') ~= head or (known[3] or '-') ~= name then
  return 'no'
end
-- Before the first write: who may not publish there must not find that out when all is written.
redis.call('SPUBLISH', string.sub(meta, 1, -5) .. 'hint', 'anything')
if not known[6] then
  redis.call('HSET', meta, 'seq', '0', 'name', '-', 'ahead', '0', 'marked', '0')
end
if tonumber(at) > tonumber(known[5] or '-1') then
  redis.call('HSET', meta, 'at', at)
end
-- Entries that were replayed since the server was measured may say that more has left.
if tonumber(evicted) > tonumber(known[7] or '-1') then
  redis.call('HSET', meta, 'evicted', evicted)
end
redis.call('HSET', meta, 'epoch', epoch, 'incarnation', incarnation, 'layout', '@LAYOUT@', 'copy', copy, 'logged', head, 'loggedAs', name, 'shipped', head, 'loggedBytes', '0', 'shippedBytes', '0')
redis.call('HDEL', meta, 'pages')
return 'yes'
