-- What the server knows of itself, and so many entries of its log after a number, of one moment. Nothing where it knows nothing.
local meta = KEYS[1]
local base = string.sub(meta, 1, -5)
local known = redis.call('HMGET', meta, 'epoch', 'logged', 'loggedAs', 'at', 'incarnation', 'copy', 'joining', 'evicted')
if not known[1] then
  return {}
end
local answer = { string.match(known[1], '^%d+'), known[2] or '0', known[3] or '-', known[4], known[5], known[6] or '0', known[7] or '0', known[8] or '0' }
for _, entry in ipairs(redis.call('XRANGE', base .. 'entries', '(' .. ARGV[1] .. '-0', '+', 'COUNT', ARGV[2])) do
  local fields = entry[2]
  answer[#answer + 1] = { string.match(entry[1], '^%d+'), fields[2], fields[4], fields[6], fields[8] }
end
return answer
