-- What the server knows of itself, and a page of its log after a number, of one moment. Nothing where it knows nothing.
local meta = KEYS[1]
local base = string.sub(meta, 1, -5)
local most = tonumber(ARGV[2])
if redis.call('EXISTS', meta) == 0 then
  return {}
end
local known = redis.call('HMGET', meta, 'epoch', 'logged', 'loggedAs', 'at', 'incarnation', 'copy', 'joining', 'evicted', 'shipped', 'pages')
local answer = {
  string.match(known[1] or '0', '^%d+'), known[2] or '0', known[3] or '-', known[4] or '0', known[5] or '', known[6] or '0', known[7] or '0', known[8] or '0',
  known[9] or '0', known[10] or '0',
}
local after, bytes, count = ARGV[1], 0, 0
while count < most and bytes < @PAGE_BYTES@ do
  local some = redis.call('XRANGE', base .. 'entries', '(' .. after .. '-0', '+', 'COUNT', math.min(16, most - count))
  for _, entry in ipairs(some) do
    local fields = entry[2]
    after = string.match(entry[1], '^%d+')
    bytes = bytes + #fields[8]
    answer[#answer + 1] = { after, fields[2], fields[4], fields[6], fields[8] }
  end
  count = count + #some
  if #some == 0 then
    break
  end
end
return answer
