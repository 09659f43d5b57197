-- A job is one text: lines, of which the first are what scripts read, and the others what only callers do.
--
--   numbers   as named below, with blanks between, `-` for none
--   claim     of a lease that a claim gave: the claim as the log will tell it (codec/opening.ts)
--   worker    whose lease it is, quoted
--   beat      the request of the last heartbeat, quoted
--   head, before, record, opening, log, requests, output, input: see job-text.ts
local REV, SEQ, STATE, GENERATION, ATTEMPT, KIND = 1, 2, 3, 4, 5, 6
local BORN_AT, CAREFUL, WINDOW, TICK, FENCE, EXPIRES = 7, 9, 10, 11, 12, 13
local BEATS_ALL, BEATS, BEATS_FROM, BEATS_TO = 14, 15, 16, 17
local LOGGED, TAIL_REV, CLAIM_REQUEST, BEAT_REQUEST = 18, 19, 20, 21
local NUMBERS = '^(%S+)' .. string.rep(' (%S+)', 20) .. '$'

local function job_in(value)
  local a = find(value, '\n', 1, true)
  local b = find(value, '\n', a + 1, true)
  local c = find(value, '\n', b + 1, true)
  local d = find(value, '\n', c + 1, true)
  local job = { match(sub(value, 1, a - 1), NUMBERS) }
  job.claim, job.worker, job.beat = sub(value, a + 1, b - 1), sub(value, b + 1, c - 1), sub(value, c + 1, d - 1)
  job.rest, job.value = sub(value, d + 1), value
  return job
end

local function value_of(job)
  return table.concat(job, ' ')
    .. '\n' .. job.claim .. '\n' .. job.worker .. '\n' .. job.beat .. '\n' .. job.rest
end

local REST = 8

-- The lines of the rest, the last of which may have more of them.
local function lines_of(job)
  local lines, from = {}, 1
  for i = 1, REST - 1 do
    local to = find(job.rest, '\n', from, true)
    lines[i] = sub(job.rest, from, to - 1)
    from = to + 1
  end
  lines[REST] = sub(job.rest, from)
  return lines
end

-- Reads jobs that are not known yet, in one go.
local function fetch(ids)
  local keys, wanted = {}, {}
  for _, id in ipairs(ids) do
    if jobs[id] == nil then
      jobs[id] = false
      keys[#keys + 1] = base .. 'job:' .. id
      wanted[#wanted + 1] = id
    end
  end
  for first = 1, #keys, 1000 do
    local values = call('MGET', unpack(keys, first, math.min(first + 999, #keys)))
    for i, value in ipairs(values) do
      jobs[wanted[first + i - 1]] = value and job_in(value)
    end
  end
end

local function job_at(id)
  if jobs[id] == nil then
    fetch({ id })
  end
  return jobs[id]
end

local function keep_job(id, job)
  jobs[id] = job
  changed[id] = true
end

local function write_jobs()
  for id in pairs(changed) do
    if jobs[id] then
      set_key(base .. 'job:' .. id, value_of(jobs[id]))
    else
      remove_key(base .. 'job:' .. id)
    end
  end
end

-- The end of the lease and the other clocks, whichever comes first; nil for none.
local function tick_of(job)
  local tick = tonumber(job[TICK])
  if job[FENCE] == '-' then
    return tick
  end
  local expires = tonumber(job[EXPIRES])
  return tick and tick < expires and tick or expires
end

-- Where a job is counted, and found by what it is.
local function settle_in(id, kind, from, to)
  if from == to then
    return
  end
  if from then
    count(kind, from, -1)
    place(base .. 'in:' .. kind .. ':' .. from, id, false)
  end
  if to then
    count(kind, to, 1)
    place(base .. 'in:' .. kind .. ':' .. to, id, 0)
  end
end
