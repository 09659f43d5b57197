-- Hands out what is due, each to one ticker for a while. A tick may be earlier than the job's, which a heartbeat has put off: then
-- it is put right, and the job handed to nobody. Time is written down here, so that it goes on although nobody else writes.
local name, limit = ARGV[3], tonumber(ARGV[4])
local answer = { now_text, '0', '0' }
local looked, handed, due_ids = 0, 0, {}
while handed < limit and looked < limit + @LOOKED_AT@ do
  local ids = call('ZRANGE', base .. 'tick', '-inf', now_text, 'BYSCORE', 'LIMIT', looked, limit - handed)
  if #ids == 0 then
    break
  end
  looked = looked + #ids
  fetch(ids)
  for _, id in ipairs(ids) do
    local tick = jobs[id] and tick_of(jobs[id])
    if not tick then
      place(base .. 'tick', id, false)
    elseif tonumber(tick) > now then
      place(base .. 'tick', id, tick)
    else
      place(base .. 'tick', id, text(now + @HANDED_OUT_MS@))
      due_ids[#due_ids + 1] = id
      handed = handed + 1
    end
  end
end
for i, text_of in ipairs(births(due_ids)) do
  answer[#answer + 1] = due_ids[i]
  answer[#answer + 1] = jobs[due_ids[i]].value
  answer[#answer + 1] = text_of
end

-- Whether there is something that the feed need not tell any more.
answer[3] = call('ZCOUNT', base .. 'marks', '-inf', text(now - tonumber(ARGV[5]))) > 0 and '1' or '0'

local was_back = tonumber(call('HGET', meta, 'setBack') or '0') + set_back
write(name)
call('HSET', meta, 'dueAt', now_text, 'dueBy', name)
if was_back > 0 then
  call('HDEL', meta, 'setBack')
  answer[2] = text(was_back)
end
return answer
