-- Renews leases that are still owned. What a heartbeat says besides is core's to decide, and marked so on the job.
local name = ARGV[3]
local ids, answer = {}, { now_text }
for i = 4, #ARGV, 4 do
  ids[#ids + 1] = ARGV[i]
end
fetch(ids)

local function beat(id, fence, request, request_mark)
  local job = jobs[id]
  if not job or job.fence ~= fence then
    return 'lost'
  end
  local is_over = now >= tonumber(job.expires)
  if job.careful == '1' then
    return is_over and 'lost' or 'careful'
  end
  if job.beat == request then
    return job.rev .. ' ' .. job.beats_all .. ' ' .. job.expires .. ' 1'
  end
  if is_over then
    return 'lost'
  end
  local window = job.window
  job.rev, job.beats_all = text(job.rev + 1), text(job.beats_all + 1)
  job.beats_from = job.beats == '0' and now_text or job.beats_from
  job.beats, job.expires, job.beat = text(job.beats + 1), text(@LEASE_END@), request
  job.lease = fence .. ' ' .. job.expires .. ' ' .. job.logged .. ' ' .. job.beats_all .. ' ' .. job.beats .. ' ' .. job.beats_from
    .. ' ' .. now_text .. ' ' .. job.claim_request .. ' ' .. request_mark
  keep_job(id, job)
  return job.rev .. ' ' .. job.beats_all .. ' ' .. job.expires .. ' 0'
end

for i = 4, #ARGV, 4 do
  answer[#answer + 1] = beat(ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3])
end
if next(changed) then
  write_jobs()
  write(name)
end
return answer
