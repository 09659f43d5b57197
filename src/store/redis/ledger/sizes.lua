-- How many pieces each of these keys has.
local SIZES = { string = 'EXISTS', hash = 'HLEN', set = 'SCARD', zset = 'ZCARD', stream = 'XLEN' }
local base = string.sub(KEYS[1], 1, -5)
local answer = {}
for i = 1, #ARGV do
  local size = SIZES[redis.call('TYPE', base .. ARGV[i]).ok]
  answer[i] = size and redis.call(size, base .. ARGV[i]) or 0
end
return answer
