-- A job is two texts (job-text.ts). What it was born with is written once, and handed on as it is; what becomes of it is lines, of
-- which the first are what scripts compare, and the others what only callers read.
--
--   state    rev state seq generation attempt tick careful tail_rev
--   kind     kind window input: never changed
--   lease    fence expires logged beats_all beats beats_from beats_to claim_request beat_request; empty where nobody owns it
--   claim, worker, beat: of the lease
--   rest     before, record, opening, log, requests, output
local byte = string.byte
local STATE = '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+)'
local LEASE = '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+)'
local NEWLINE = 10

local function job_in(value)
  local state_end = find(value, '\n', 1, true)
  local kind_end = find(value, '\n', state_end + 1, true)
  local rev, state, seq_of, generation, attempt, tick, careful, tail_rev = match(value, STATE)
  local kind, window, input = match(value, '^(%S+) (%S+) (%S+)', state_end + 1)
  local job = {
    rev = rev, state = state, seq = seq_of, generation = generation, attempt = attempt, tick = tick, careful = careful,
    tail_rev = tail_rev, kind = kind, window = window, input = input, was = state, value = value,
    kind_line = sub(value, state_end + 1, kind_end - 1), lease = '', claim = '', worker = '', beat = '',
  }
  if byte(value, kind_end + 1) == NEWLINE then
    job.rest_at = kind_end + 5
    return job
  end
  local lease_end = find(value, '\n', kind_end + 1, true)
  local claim_end = find(value, '\n', lease_end + 1, true)
  local worker_end = find(value, '\n', claim_end + 1, true)
  local beat_end = find(value, '\n', worker_end + 1, true)
  job.fence, job.expires, job.logged, job.beats_all, job.beats, job.beats_from, job.beats_to, job.claim_request, job.beat_request =
    match(value, LEASE, kind_end + 1)
  job.lease, job.claim = sub(value, kind_end + 1, lease_end - 1), sub(value, lease_end + 1, claim_end - 1)
  job.worker, job.beat = sub(value, claim_end + 1, worker_end - 1), sub(value, worker_end + 1, beat_end - 1)
  job.rest_at = beat_end + 1
  return job
end

local function state_line(job)
  return job.rev .. ' ' .. job.state .. ' ' .. job.seq .. ' ' .. job.generation .. ' ' .. job.attempt .. ' ' .. job.tick .. ' '
    .. job.careful .. ' ' .. job.tail_rev
end

local function value_of(job)
  return state_line(job) .. '\n' .. job.kind_line .. '\n' .. job.lease .. '\n' .. job.claim .. '\n' .. job.worker .. '\n' .. job.beat
    .. '\n' .. (job.rest or sub(job.value, job.rest_at))
end

local BEFORE, RECORD, OPENING, LOG, REQUESTS, OUTPUT = 1, 2, 3, 4, 5, 6

local function lines_of(job)
  local text_of, from, lines = job.value, job.rest_at, {}
  if job.rest then
    text_of, from = job.rest, 1
  end
  for i = 1, OUTPUT - 1 do
    local to = find(text_of, '\n', from, true)
    lines[i] = sub(text_of, from, to - 1)
    from = to + 1
  end
  lines[OUTPUT] = sub(text_of, from)
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

-- What jobs were born with, in one go.
local function births(ids)
  local found = {}
  for first = 1, #ids, 1000 do
    local keys = {}
    for i = first, math.min(first + 999, #ids) do
      keys[#keys + 1] = base .. 'born:' .. ids[i]
    end
    for _, text_of in ipairs(call('MGET', unpack(keys))) do
      found[#found + 1] = text_of
    end
  end
  return found
end

local function job_at(id)
  if jobs[id] == nil then
    fetch({ id })
  end
  return jobs[id]
end

-- A job is to be written; `false` removes it.
local function keep_job(id, job)
  changed[id] = changed[id] or jobs[id] or {}
  jobs[id] = job
end

-- The end of the lease and the other clocks, whichever comes first, as it is written down; false for none.
local function tick_of(job)
  if not job.fence then
    return job.tick ~= '-' and job.tick
  end
  return job.tick ~= '-' and tonumber(job.tick) < tonumber(job.expires) and job.tick or job.expires
end

local in_keys = {}

local function in_key(kind, state)
  local states = in_keys[kind]
  if not states then
    states = {}
    in_keys[kind] = states
  end
  if not states[state] then
    states[state] = base .. 'in:' .. kind .. ':' .. state
  end
  return states[state]
end

-- Where a job is counted, and found by what it is: once for each call, however often it has changed in it.
local function settle_in(id, kind, from, to)
  if from == to then
    return
  end
  if from then
    count(kind, from, -1)
    local leave = leaving(in_key(kind, from))
    leave[#leave + 1] = id
  end
  if to then
    count(kind, to, 1)
    local come = coming(in_key(kind, to))
    come[#come + 1] = '0'
    come[#come + 1] = id
  end
end

local function write_jobs()
  for id, before in pairs(changed) do
    local job = jobs[id]
    local key = base .. 'job:' .. id
    if job then
      settle_in(id, job.kind, before.was, job.state)
      texts[#texts + 1] = key
      texts[#texts + 1] = value_of(job)
    else
      settle_in(id, before.kind, before.was, nil)
      remove_key(key)
    end
  end
end
