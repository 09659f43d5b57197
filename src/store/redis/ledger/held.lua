-- What the server holds of pieces of keys, one by one: nothing where there is none. Items: kind, key, and the piece's name.
local function held(kind, key, name)
  if kind == 'text' then
    return redis.call('GET', key)
  elseif kind == 'field' then
    return redis.call('HGET', key, name)
  elseif kind == 'member' then
    return redis.call('SISMEMBER', key, name) == 1 and ''
  elseif kind == 'score' then
    return redis.call('ZSCORE', key, name)
  end
  local line = redis.call('XRANGE', key, name .. '-0', name .. '-0', 'COUNT', 1)[1]
  return line and cjson.encode(line[2])
end

local base = string.sub(KEYS[1], 1, -5)
local answer = {}
for i = 1, #ARGV, 3 do
  answer[#answer + 1] = held(ARGV[i], base .. ARGV[i + 1], ARGV[i + 2])
end
return answer
