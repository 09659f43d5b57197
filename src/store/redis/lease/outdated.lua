-- What the feed need not tell any more. Now and then the place in the log is marked that a time has come to (draft.lua).
local name = ARGV[3]
local until_at = text(now - tonumber(ARGV[4]))
local mark = call('ZRANGE', base .. 'marks', until_at, '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, 1, 'WITHSCORES')
if not mark[1] then
  return { now_text }
end
local outdated = { base .. 'marks' }
for type in string.gmatch('@EVENT_LETTERS@', '.') do
  outdated[#outdated + 1] = base .. 'type:' .. type
end
for _, key in ipairs(outdated) do
  call('ZCARD', key)
end
call('XLEN', base .. 'log')
write(name)
call('XTRIM', base .. 'log', 'MINID', mark[1] .. '-0')
for _, key in ipairs(outdated) do
  call('ZREMRANGEBYSCORE', key, '-inf', mark[2])
end
return { now_text }
