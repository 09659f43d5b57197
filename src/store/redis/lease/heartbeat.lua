-- Renews leases that are still owned. What a heartbeat says besides is core's to decide, and marked so on the job.
local name = ARGV[3]
local ids, answer = {}, { now_text }
for i = 4, #ARGV, 4 do
  ids[#ids + 1] = ARGV[i]
end
fetch(ids)

local function beat(id, fence, request, request_mark)
  local job = jobs[id]
  if not job or job[FENCE] ~= fence then
    return 'lost'
  end
  local is_over = now >= tonumber(job[EXPIRES])
  if job[CAREFUL] == '1' then
    return is_over and 'lost' or 'careful'
  end
  if job.beat == request then
    return job[REV] .. ' ' .. job[BEATS_ALL] .. ' ' .. job[EXPIRES] .. ' 1'
  end
  if is_over then
    return 'lost'
  end
  job[REV], job[BEATS_ALL] = text(job[REV] + 1), text(job[BEATS_ALL] + 1)
  job[BEATS_FROM] = job[BEATS] == '0' and now_text or job[BEATS_FROM]
  job[BEATS], job[BEATS_TO] = text(job[BEATS] + 1), now_text
  job[EXPIRES], job[BEAT_REQUEST] = text(now + job[WINDOW]), request_mark
  job.beat = request
  keep_job(id, job)
  return job[REV] .. ' ' .. job[BEATS_ALL] .. ' ' .. job[EXPIRES] .. ' 0'
end

for i = 4, #ARGV, 4 do
  answer[#answer + 1] = beat(ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3])
end
if next(changed) then
  write_jobs()
  write(name)
end
return answer
