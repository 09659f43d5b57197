-- Changes, one after the other, each whole or not at all. A change is compared with what is there, and moves things: what becomes of
-- the job has been decided before.
local name = ARGV[3]

-- Of a job that is not what its caller has read: one that has left is brought back first.
local function conflict(id)
  return not job_at(id) and is_evicted(id) and 'evicted' or 'conflict'
end

-- Makes room for another stretch: the last one, which is in the job's own text, goes to where the others are.
local function push_tail(id, job, lines)
  if lines[LOG] == '' then
    return
  end
  local rev = job.tail_rev
  added(past, base .. 'past:' .. id, rev, lines[OPENING] .. '\n' .. lines[LOG])
  for request in string.gmatch(lines[REQUESTS], '%d+') do
    place(base .. 'asked:' .. id, request .. ':' .. rev, '0')
  end
end

-- What the lease knows and the log does not: the claim, and the heartbeats since the last event, of which the feed is told.
local function opening_of(id, job)
  if not job.fence then
    return '', ''
  end
  local claim = job.logged == '0' and job.claim ~= '' and job.claim or nil
  if job.beats == '0' then
    return claim and '[' .. claim .. ',null]' or '', claim and job.claim_request .. ' ' or ''
  end
  happened('@HEARTBEAT_EVENT@', job.rev, job.kind, job.beats_to, id)
  local beats = '[' .. job.rev .. ',"' .. job.state .. '",' .. job.beats .. ',' .. job.beats_from .. ',' .. job.beats_to .. ','
    .. job.expires .. ',' .. job.beat .. ',' .. job.generation .. ',' .. job.attempt .. ',"' .. job.fence .. '",' .. job.worker .. ']'
  return '[' .. (claim or 'null') .. ',' .. beats .. ']', (claim and job.claim_request .. ' ' or '') .. job.beat_request .. ' '
end

-- What a change brings besides, which ends of jobs seldom do; and where the next change begins.
local function more_of(i)
  local more = {
    worker = ARGV[i], beat = ARGV[i + 1], lane_before = ARGV[i + 2], lane_after = ARGV[i + 3], ready_at = ARGV[i + 4], long = ARGV[i + 5],
    judge = ARGV[i + 6], code_before = ARGV[i + 7], code_after = ARGV[i + 8], strips = ARGV[i + 9] == '1',
    give = {}, take = {}, bodies = {}, echoes = {},
  }
  i = i + 10
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
  else
    i = i + 1
  end
  if more.lane_before == '@IN_FLOW@' then
    more.flow, i = flow_move(i)
  end
  return more, i
end

-- What forbids a change that is at the right revision.
local function obstacle(id, more)
  local function is_taken(key, owner)
    local holder = holder_of(key)
    return holder and holder ~= owner and not (holder == id and more.give[key]) and holder
  end
  if more.flow and more.flow.key and not may_move_key(more.flow.key) then
    return 'conflict'
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
  if job_at(more.spawn.id) or is_evicted(more.spawn.id) then
    return 'conflict'
  end
  for n, wanted in ipairs(more.spawn.keys) do
    local holder = is_taken(wanted.key, more.spawn.id)
    if holder then
      return wanted.by == 'alias' and 'conflict' or 'spawn ' .. n .. ' ' .. holder
    end
  end
end

-- All texts beside a job go: of what it was born with, its input.
local function strip(id, job)
  local lines = lines_of(job)
  lines[OUTPUT] = ''
  job.rest = table.concat(lines, '\n')
  job.input, job.kind_line = '-', job.kind .. ' ' .. job.window .. ' -'
  set_key(base .. 'born:' .. id, match(call('GET', base .. 'born:' .. id), '^[^\n]*\n'))
  remove_key(base .. 'body:' .. id)
  fields[base .. 'body:' .. id] = nil
end

-- The rest of what a change brings, once nothing forbids it.
local function add_more(id, job, queue, more)
  if more.flow then
    move_flow(id, more.flow, job.rev, more.ready_at)
  elseif more.lane_before ~= '' then
    quit_lane(queue, more.lane_before, id)
  end
  if more.lane_after ~= '' then
    enter_lane(queue, more.lane_after, id, more.ready_at)
    tell('queue\t' .. queue .. '\t' .. sub(more.lane_after, 2))
  end
  if more.long ~= '' then
    place(base .. 'long', id, more.long ~= '-' and more.long)
  end
  if more.judge ~= '' then
    place(base .. 'judge', id, more.judge ~= '-' and more.judge)
  end
  if more.code_before ~= more.code_after then
    if more.code_before ~= '' then
      place(base .. 'mark:' .. more.code_before, id, false)
    end
    if more.code_after ~= '' then
      place(base .. 'mark:' .. more.code_after, id, '0')
    end
  end
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
  if more.strips then
    strip(id, job)
  end
  if more.spawn then
    bear(more.spawn)
  end
end

-- Events by the text that tells them: those of a batch are often told alike.
local told_alike = {}

local function events_in(told_as)
  local events = told_alike[told_as]
  if not events then
    events = {}
    for type, rev, when in string.gmatch(told_as, '([^ ;]+) ([^ ;]+) ([^ ;]+)') do
      events[#events + 1] = { type, rev, when }
    end
    told_alike[told_as] = events
  end
  return events
end

-- What is behind the lease.
local function rest_after(id, job, record, log, requests, output, is_kept)
  local opening, opening_requests = opening_of(id, job)
  local lines = lines_of(job)
  push_tail(id, job, lines)
  local before = ''
  if is_kept then
    before = job.logged == '0' and job.claim ~= '' and lines[RECORD] or lines[BEFORE]
  end
  return before .. '\n' .. record .. '\n' .. opening .. '\n' .. log .. '\n' .. opening_requests .. requests .. '\n'
    .. (output ~= '' and output or lines[OUTPUT])
end

local function move(i)
  local id, rev, fence, not_after, state, lease = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4], ARGV[i + 5]
  local record, log, requests, output, events, queue = ARGV[i + 6], ARGV[i + 7], ARGV[i + 8], ARGV[i + 9], ARGV[i + 10], ARGV[i + 11]
  local more
  if ARGV[i + 12] == '1' then
    more, i = more_of(i + 13)
  else
    i = i + 13
  end
  local job = job_at(id)
  if not job or job.rev ~= rev then
    return i, conflict(id)
  end
  -- A server that came back with less has given the job to another since, who has brought it to the same revision.
  if (job.fence or '-') ~= fence then
    return i, 'conflict'
  end
  if not_after ~= '-' and now >= tonumber(not_after) then
    return i, 'late'
  end
  -- The log tells the record only where nothing lies between the first event and this but the claim.
  if record == '' and rev ~= '1' and (job.claim == '' or job.logged ~= '0' or job.beats ~= '0') then
    return i, 'apart'
  end
  local why = more and obstacle(id, more)
  if why then
    return i, why
  end
  local had_tick = tick_of(job)
  local is_kept = lease ~= '' and job.fence == match(lease, '^%S+')
  job.rest = rest_after(id, job, record, log, requests, output, is_kept)
  job.rev, job.state, job.seq, job.generation, job.attempt, job.tick, job.careful, job.tail_rev = match(state, STATE)
  job.lease, job.beat = lease, more and more.beat or ''
  if not is_kept then
    job.claim, job.worker = '', more and more.worker or ''
  end
  job.fence, job.expires, job.logged, job.beats_all, job.beats, job.beats_from, job.beats_to, job.claim_request, job.beat_request =
    match(lease, LEASE)
  keep_job(id, job)
  local tick = tick_of(job)
  -- Although it is the same as before: it may have been handed out, and is due again when it says so.
  if tick or had_tick then
    place(base .. 'tick', id, tick)
  end
  for _, event in ipairs(events_in(events)) do
    happened(event[1], event[2], job.kind, event[3], id)
  end
  tell_job(queue, id)
  if more then
    add_more(id, job, queue, more)
  end
  return i, 'applied'
end

-- One event in the place of others: the log is written again, and must be the one that was read.
local function compact(i)
  local id, rev, was, log, record = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4]
  local job = job_at(id)
  local lines = job and lines_of(job)
  if not job or job.rev ~= rev or lines[LOG] ~= was then
    return i + 5, conflict(id)
  end
  lines[RECORD], lines[OPENING], lines[LOG], lines[REQUESTS] = record, '', log, '@ANY_REQUEST@'
  job.rest, job.tail_rev = table.concat(lines, '\n'), rev
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
    return i + 3, conflict(id)
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
  if not job or job.rev ~= rev then
    return i + 3, conflict(id)
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
  place(base .. 'judge', id, false)
  place(base .. 'tick', id, false)
  keep_job(id, false)
  for _, own in ipairs({ 'born:', 'past:', 'asked:', 'body:', 'notes:', 'tied:' }) do
    remove_key(base .. own .. id)
    sorted[base .. own .. id], fields[base .. own .. id], past[base .. own .. id] = nil, nil, nil
    grown[base .. own .. id], shrunk[base .. own .. id] = nil, nil
  end
  purged = purged + 1
  return i + 3, 'applied'
end

local is_key_moved = false

-- What somebody has set for a key, or learnt about it, with no job involved.
local function key(i)
  local it
  it, i = key_move(i)
  if not may_move_key(it) then
    return i, 'conflict'
  end
  move_key(it)
  is_key_moved = true
  return i, 'applied'
end

local function mend(i)
  is_key_moved = true
  return mended(i), 'applied'
end

local KINDS = { move = move, compact = compact, annotate = annotate, purge = purge, key = key, mend = mend }
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
if next(changed) or next(fields) or is_key_moved then
  write_jobs()
  look_lanes()
  write(name)
  leave_lanes()
end
return answer
