-- Before a script whose writes go to a ledger. Each command that it writes with is put down, as it was done, and all of them are the entry
-- of this call (entry.lua): so what a script writes is in the entry, whichever part of it did. `patience` is the script's own.
local meta = KEYS[1]
local base = string.sub(meta, 1, -5)
local real = redis.call
local known = real('HMGET', meta, 'logged', 'loggedAs', 'shipped', 'loggedBytes', 'shippedBytes')
local logged, logged_as, logged_bytes = tonumber(known[1] or '0'), known[2] or '-', tonumber(known[4] or '0')
real('XLEN', base .. 'entries')
local shipped, bytes = tonumber(known[3] or '0'), logged_bytes - tonumber(known[5] or '0')
if logged - shipped >= @UNSHIPPED@ * patience or bytes >= @UNSHIPPED_BYTES@ * patience then
  return redis.error_reply('@BEHIND@ ' .. logged - shipped .. ' entries of ' .. bytes .. ' bytes wait for it')
end

-- Which of the words behind a command are keys: they are written without what the names of all begin with.
local WRITES = {
  EVICT = 'all', HDEL = 'first', HINCRBY = 'first', HSET = 'first', MSET = 'odd', PEXPIRE = 'first', SADD = 'first', SET = 'first', SREM = 'first',
  UNLINK = 'all', XADD = 'first', XTRIM = 'first', ZADD = 'first', ZREM = 'first', ZREMRANGEBYSCORE = 'first',
}
local READS = {}
for name in string.gmatch('@READS@', '%S+') do
  READS[name] = true
end

-- Words are texts: cjson would keep fourteen digits of a number.
local function written(word)
  return type(word) == 'number' and string.format('%.0f', word) or word
end

local function ending_in(ms)
  local clock = real('TIME')
  return clock[1] * 1000 + math.floor(clock[2] / 1000) + ms
end

-- What is there afterwards, and no difference to what was: a sum by its result, a time to live by its end.
local function as_done(command, words, answer)
  if command == 'HINCRBY' then
    return 'HSET', { words[1], words[2], answer }
  elseif command == 'SET' and words[3] == 'PX' then
    return 'SET', { words[1], words[2], 'PXAT', ending_in(words[4]) }
  elseif command == 'PEXPIRE' then
    return 'PEXPIREAT', { words[1], ending_in(words[2]) }
  end
  return command, words
end

local commands = {}

local function record(command, places, words, answer)
  local done, done_words = as_done(command, words, answer)
  local line = { done }
  for i, word in ipairs(done_words) do
    local is_key = places == 'all' or i == 1 or (places == 'odd' and i % 2 == 1)
    line[i + 1] = is_key and string.sub(word, #base + 1) or written(word)
  end
  commands[#commands + 1] = line
end

local redis = {
  call = function(command, ...)
    local places = WRITES[command]
    if READS[command] then
      return real(command, ...)
    elseif not places then
      error({ err = 'ERR ' .. command .. ' is known neither to read nor to write' })
    end
    local answer = real(command == 'EVICT' and 'UNLINK' or command, ...)
    record(command, places, { ... }, answer)
    return answer
  end,
}
