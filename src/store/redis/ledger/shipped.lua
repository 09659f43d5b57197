-- The ledger has the log of this epoch up to this number: what it has had for a while need not be kept here.
local meta = KEYS[1]
local base = string.sub(meta, 1, -5)
local epoch, shipped, keep_ms = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local function text_of(number)
  return string.format('%.0f', number)
end
local known = redis.call('HMGET', meta, 'epoch', 'shipped', 'at')
if not known[1] or string.match(known[1], '^%d+') ~= epoch or shipped <= tonumber(known[2] or '0') then
  return 0
end
-- One by one: entries are big, and mostly the first is too young.
local trimmed = 0
for _ = 1, @LOOKED_AT@ do
  local entry = redis.call('XRANGE', base .. 'entries', text_of(trimmed) .. '-1', '+', 'COUNT', 1)[1]
  local number = entry and tonumber((string.match(entry[1], '^%d+')))
  if not entry or number > shipped or tonumber(entry[2][6]) > known[3] - keep_ms then
    break
  end
  trimmed = number
end
-- What was written up to there; of an entry that is not there any more nobody knows, and nothing is changed.
local last = redis.call('XRANGE', base .. 'entries', ARGV[2] .. '-0', ARGV[2] .. '-0', 'COUNT', 1)[1]
redis.call('HSET', meta, 'shipped', text_of(shipped))
if last then
  redis.call('HSET', meta, 'shippedBytes', last[2][10])
end
if trimmed > 0 then
  redis.call('XTRIM', base .. 'entries', 'MINID', text_of(trimmed + 1) .. '-0')
end
return trimmed
