-- Hands out what waits to be judged, each to one who does for a while; what has waited longest comes first.
local name, limit = ARGV[3], tonumber(ARGV[4])
local answer = { now_text }
local ids = call('ZRANGE', base .. 'judge', '-inf', now_text, 'BYSCORE', 'LIMIT', 0, limit)
fetch(ids)
local handed = {}
for _, id in ipairs(ids) do
  local is_there = jobs[id] and true
  place(base .. 'judge', id, is_there and text(now + @HANDED_OUT_MS@))
  if is_there then
    handed[#handed + 1] = id
  end
end
for i, text_of in ipairs(births(handed)) do
  answer[#answer + 1] = handed[i]
  answer[#answer + 1] = jobs[handed[i]].value
  answer[#answer + 1] = text_of
end
write(name)
return answer
