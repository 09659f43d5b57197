-- What every script begins with: whether its caller knows this server, and what time it is.
--
-- KEYS[1] is the partition's meta, the one key that is declared and by which a call is routed; all others have its tag.
-- ARGV[1] is the epoch that the caller has joined, ARGV[2] by how much tests have set the clock.
local meta = KEYS[1]
local base = string.sub(meta, 1, -5)
local call, find, sub, match, format = redis.call, string.find, string.sub, string.match, string.format

-- A number as it is written down. Ids are no numbers here: `tostring` keeps fourteen digits.
local function text(number)
  return format('%.0f', number)
end

local known = call('HMGET', meta, 'epoch', 'seq', 'name', 'at', 'ahead', 'marked', 'joining', 'evicted')
-- Only a server with a ledger is ever being joined while others think that they have.
if known[1] ~= ARGV[1] or (known[7] and known[7] ~= known[1]) then
  return { '@REJOIN@' }
end
local seq, last_name, at = tonumber(known[2]), known[3], tonumber(known[4])
local ahead, marked = tonumber(known[5]), tonumber(known[6])

-- The partition's clock. Where the server's was set back, it goes on from where it was, a little slower than that one, until it is
-- caught up with; where that was set forward, it goes along.
local clock = call('TIME')
local wall = clock[1] * 1000 + math.floor(clock[2] / 1000) + tonumber(ARGV[2])
local now = wall + ahead
local set_back = 0
if now < at then
  set_back = at - now
  ahead = at - wall
  now = at
elseif ahead > 0 then
  ahead = math.max(0, ahead - math.floor((now - at) / @CATCH_UP@))
  now = wall + ahead
end
local now_text = text(now)
