-- Changes, one after the other, each whole or not at all. A change is compared with what is there, and moves things: what becomes of
-- the job has been decided before.
local name = ARGV[3]
local HEAD, BEFORE, RECORD, OPENING, LOG, REQUESTS, OUTPUT, INPUT = 1, 2, 3, 4, 5, 6, 7, 8
local FACTS = '^(%S+)' .. string.rep(' (%S+)', 14) .. '$'

-- Makes room for another stretch: the last one, which is in the job's own text, goes to where the others are.
local function push_tail(id, job, lines)
  if lines[LOG] == '' then
    return
  end
  local rev = job[TAIL_REV]
  added(past, base .. 'past:' .. id, rev, lines[OPENING] .. '\n' .. lines[LOG])
  for request in string.gmatch(lines[REQUESTS], '%d+') do
    place(base .. 'asked:' .. id, request .. ':' .. rev, 0)
  end
  lines[OPENING], lines[LOG], lines[REQUESTS] = '', '', ''
end

-- What the lease knows and the log does not: the claim, and the heartbeats since the last event, of which the feed is told.
local function opening_of(id, job)
  local claim = job[LOGGED] == '0' and job.claim ~= '' and job.claim or nil
  local beats = job[BEATS] ~= '0' and '[' .. job[REV] .. ',"' .. job[STATE] .. '",' .. job[BEATS] .. ',' .. job[BEATS_FROM] .. ','
    .. job[BEATS_TO] .. ',' .. job[EXPIRES] .. ',' .. job.beat .. ',' .. job[GENERATION] .. ',' .. job[ATTEMPT] .. ',"'
    .. job[FENCE] .. '",' .. job.worker .. ']' or nil
  local requests = (claim and job[CLAIM_REQUEST] .. ' ' or '') .. (beats and job[BEAT_REQUEST] .. ' ' or '')
  if beats then
    happened('@HEARTBEAT_EVENT@', job[REV], job[KIND], job[BEATS_TO], id)
  end
  if not claim and not beats then
    return '', ''
  end
  return '[' .. (claim or 'null') .. ',' .. (beats or 'null') .. ']', requests
end

-- The keys, bodies and words of a change besides its record, and its successor; where the next change begins.
local function more_of(i)
  local more = { give = {}, take = {}, bodies = {}, echoes = {} }
  for _ = 1, tonumber(ARGV[i]) do
    i = i + 1
    more.give[ARGV[i]] = true
  end
  i = i + 1
  for _ = 1, tonumber(ARGV[i]) do
    more.take[#more.take + 1] = { key = ARGV[i + 1], expires = ARGV[i + 2] }
    i = i + 2
  end
  i = i + 1
  for _ = 1, 2 * tonumber(ARGV[i]) do
    i = i + 1
    more.bodies[#more.bodies + 1] = ARGV[i]
  end
  i = i + 1
  for _ = 1, tonumber(ARGV[i]) do
    i = i + 1
    more.echoes[#more.echoes + 1] = ARGV[i]
  end
  i = i + 1
  if ARGV[i] == '1' then
    more.spawn, i = newcomer(i + 1)
    return more, i
  end
  return more, i + 1
end

-- What forbids a change that is at the right revision.
local function obstacle(id, more)
  local function is_taken(key, owner)
    local holder = holder_of(key)
    return holder and holder ~= owner and not (holder == id and more.give[key]) and holder
  end
  for n, wanted in ipairs(more.take) do
    local holder = is_taken(wanted.key, id)
    if holder then
      return 'take ' .. n .. ' ' .. holder
    end
  end
  if not more.spawn then
    return nil
  end
  if job_at(more.spawn.id) then
    return 'conflict'
  end
  for n, wanted in ipairs(more.spawn.keys) do
    local holder = is_taken(wanted.key, more.spawn.id)
    if holder then
      return wanted.by == 'alias' and 'conflict' or 'spawn ' .. n .. ' ' .. holder
    end
  end
end

local function move(i)
  local id, numbers = ARGV[i], ARGV[i + 1]
  local worker, beat, record, log, requests, output = ARGV[i + 2], ARGV[i + 3], ARGV[i + 4], ARGV[i + 5], ARGV[i + 6], ARGV[i + 7]
  local events, queue, lane_before, lane_after = ARGV[i + 8], ARGV[i + 9], ARGV[i + 10], ARGV[i + 11]
  local code_before, code_after = ARGV[i + 12], ARGV[i + 13]
  local more
  if ARGV[i + 14] == '1' then
    more, i = more_of(i + 15)
  else
    i = i + 15
  end
  local rev, not_after, new_rev, new_seq, state, generation, attempt, careful, tick, fence, expires, beats_all, ready_at, was_long, long =
    match(numbers, FACTS)
  local job = job_at(id)
  if not job or job[REV] ~= rev then
    return i, 'conflict'
  end
  if not_after ~= '-' and now >= tonumber(not_after) then
    return i, 'late'
  end
  -- The log tells the record only where nothing lies between the first event and this but the claim.
  if record == '' and rev ~= '1' and (job.claim == '' or job[LOGGED] ~= '0' or job[BEATS] ~= '0') then
    return i, 'apart'
  end
  local why = more and obstacle(id, more)
  if why then
    return i, why
  end

  local kind, lines = job[KIND], lines_of(job)
  local opening, opening_requests = opening_of(id, job)
  push_tail(id, job, lines)
  if job[FENCE] == fence and fence ~= '-' then
    if job.claim ~= '' and job[LOGGED] == '0' then
      lines[BEFORE] = lines[RECORD]
    end
    job[LOGGED] = '1'
  else
    lines[BEFORE], job.claim, job.worker, job[LOGGED] = '', '', worker, '1'
  end
  lines[RECORD], lines[OPENING], lines[LOG], lines[REQUESTS] = record, opening, log, opening_requests .. requests
  if output ~= '' then
    lines[OUTPUT] = output
  end
  job.rest = table.concat(lines, '\n')
  settle_in(id, kind, job[STATE], state)
  job[REV], job[SEQ], job[STATE], job[GENERATION], job[ATTEMPT] = new_rev, new_seq, state, generation, attempt
  job[CAREFUL], job[TICK], job[FENCE], job[EXPIRES] = careful, tick, fence, expires
  job[BEATS_ALL], job[BEATS], job[BEATS_FROM], job[BEATS_TO], job[TAIL_REV] = beats_all, '0', '0', '0', new_rev
  job.beat = beat
  keep_job(id, job)
  place(base .. 'tick', id, tick_of(job) or false)
  if lane_before ~= '' then
    leave_lane(queue, lane_before, id)
  end
  if lane_after ~= '' then
    enter_lane(queue, lane_after, id, ready_at)
    tell('queue\t' .. queue .. '\t' .. sub(lane_after, 2))
  end
  if was_long ~= '-' or long ~= '-' then
    place(base .. 'long', id, long ~= '-' and long)
  end
  if code_before ~= code_after then
    if code_before ~= '' then
      place(base .. 'mark:' .. code_before, id, false)
    end
    if code_after ~= '' then
      place(base .. 'mark:' .. code_after, id, 0)
    end
  end
  for type, at_rev, when in string.gmatch(events, '([^ ;]+) ([^ ;]+) ([^ ;]+)') do
    happened(type, at_rev, kind, when, id)
  end
  tell('job\t' .. queue, id)
  if more then
    for key in pairs(more.give) do
      give_key(key, id)
    end
    for _, wanted in ipairs(more.take) do
      take_key(wanted.key, id, wanted.expires)
    end
    for n = 1, #more.bodies, 2 do
      added(fields, base .. 'body:' .. id, more.bodies[n], more.bodies[n + 1])
    end
    for _, mark in ipairs(more.echoes) do
      mark_job(mark, id)
    end
    if more.spawn then
      bear(more.spawn)
    end
  end
  return i, 'applied'
end

-- One event in the place of others: the log is written again, and must be the one that was read.
local function compact(i)
  local id, rev, was, log, record = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4]
  local job = job_at(id)
  local lines = job and lines_of(job)
  if not job or job[REV] ~= rev or lines[LOG] ~= was then
    return i + 5, 'conflict'
  end
  lines[RECORD], lines[OPENING], lines[LOG], lines[REQUESTS] = record, '', log, '@ANY_REQUEST@'
  job.rest = table.concat(lines, '\n')
  job[TAIL_REV] = rev
  keep_job(id, job)
  for _, own in ipairs({ 'past:', 'asked:' }) do
    remove_key(base .. own .. id)
    sorted[base .. own .. id], past[base .. own .. id] = nil, nil
  end
  return i + 5, 'applied'
end

-- A word that came too late is written down once.
local function annotate(i)
  local id, field, note = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  if not job_at(id) then
    return i + 3, 'conflict'
  end
  if call('HEXISTS', base .. 'notes:' .. id, field) == 0 then
    added(fields, base .. 'notes:' .. id, field, note)
  end
  return i + 3, 'applied'
end

-- An ended job with everything that is its own. The feed keeps saying that it was there.
local function purge(i)
  local id, rev, code = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  local job = job_at(id)
  if not job or job[REV] ~= rev then
    return i + 3, 'conflict'
  end
  for _, tie in ipairs(call('SMEMBERS', base .. 'tied:' .. id)) do
    local what = sub(tie, 2)
    if sub(tie, 1, 1) == 'm' then
      place(base .. 'mark:' .. what, id, false)
    elseif holder_of(what) == id or match(call('GET', base .. 'key:' .. what) or '', '^(%S+)') == id then
      holders[what] = false
      remove_key(base .. 'key:' .. what)
    end
  end
  if code ~= '' then
    place(base .. 'mark:' .. code, id, false)
  end
  place(base .. 'long', id, false)
  place(base .. 'tick', id, false)
  settle_in(id, job[KIND], job[STATE], nil)
  keep_job(id, false)
  for _, own in ipairs({ 'past:', 'asked:', 'body:', 'notes:', 'tied:' }) do
    remove_key(base .. own .. id)
    sorted[base .. own .. id], fields[base .. own .. id], past[base .. own .. id] = nil, nil, nil
    grown[base .. own .. id], shrunk[base .. own .. id] = nil, nil
  end
  purged = purged + 1
  return i + 3, 'applied'
end

local KINDS = { move = move, compact = compact, annotate = annotate, purge = purge }
local answer, i = { now_text }, 5
local ids = {}
for id in string.gmatch(ARGV[4], '%S+') do
  ids[#ids + 1] = id
end
fetch(ids)
while i <= #ARGV do
  local verdict
  i, verdict = KINDS[ARGV[i]](i + 1)
  answer[#answer + 1] = verdict
end
if next(changed) or next(fields) then
  write_jobs()
  look_lanes()
  write(name)
  leave_lanes()
end
return answer
