-- Gives the front of the lanes to a worker. Nothing is judged here: two times that core has computed are compared with the clock.
local name, request, nonce, worker, words = ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local request_mark, limit, spin, sides_most, left_bytes =
  ARGV[8], tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11]), tonumber(ARGV[12])
local lane_count, serve_count, limited, let_in_first = tonumber(ARGV[13]), tonumber(ARGV[14]), tonumber(ARGV[15]), ARGV[16] == '1'
-- Whether each need that is served is among the words by itself; else a need is a set of words, each of which must be among them.
local is_whole = ARGV[17] == '1'
local FIRST_LANE = 18
local FIRST_SERVED = FIRST_LANE + 2 * lane_count

-- An input rides along while there is room; one that has a place of its own is read only then. `+`: it is in the job's text.
local function input_of(id, input)
  if input == '-' then
    return '-'
  end
  local bytes = tonumber(sub(input, 2))
  if bytes > left_bytes then
    return '-'
  end
  left_bytes = left_bytes - bytes
  return sub(input, 1, 1) == '=' and '+' or '=' .. call('HGET', base .. 'body:' .. id, 'input')
end

-- What an earlier call with this request was given and still owns.
local documents, documented = {}, {}
local answer, ids_given = { now_text, '0', documents }, {}

-- Each job is four words, of which the third is filled in when all are known.
local function give(id, job)
  ids_given[#ids_given + 1] = id
  local n = #answer
  answer[n + 1], answer[n + 2], answer[n + 3], answer[n + 4] = id, job.value, '', input_of(id, job.input)
end

local function with_births()
  for i, text_of in ipairs(births(ids_given)) do
    answer[4 * i + 2] = text_of
  end
  return answer
end

-- The documents of its keys, of which the caller knows who hears how the attempt ends.
local function tell_keys(spot)
  for _, key in ipairs(spot.keys) do
    if not documented[key] then
      documented[key] = true
      local rev, text_of = unpack(call('HMGET', base .. 'limit:' .. key, 'rev', 'text'))
      documents[#documents + 1] = key
      documents[#documents + 1] = rev or '0'
      documents[#documents + 1] = text_of or ''
    end
  end
end

local granted = call('GET', base .. 'claim:' .. request)
if granted then
  for is_limited, id, fence in string.gmatch(granted, '(%*?)([^%s*]+) (%S+)') do
    local job = job_at(id)
    if job and job.fence == fence and tonumber(job.expires) > now then
      answer[2] = '1'
      give(id, job)
      if is_limited == '*' and spot_at(id) then
        tell_keys(spot_at(id))
      end
    end
  end
  if answer[2] == '1' then
    return with_births()
  end
end

local given, looked, longest = 0, 0, 0
local grants = {}
local ticks = coming(base .. 'tick')
-- By window, which the jobs of a kind share: when a lease ends that is given now.
local ends = {}

local function take(id, job, mark)
  give(id, job)
  local window, from = job.window, job.state
  local expires = ends[window]
  if not expires then
    expires = text(@LEASE_END@)
    ends[window] = expires
    longest = math.max(longest, tonumber(window))
  end
  job.rev, job.seq, job.attempt, job.state = text(job.rev + 1), text(job.seq + 1), text(job.attempt + 1), '@CLAIMED@'
  job.fence, job.expires = job.generation .. '.' .. job.attempt .. '.' .. nonce, expires
  job.lease = job.fence .. ' ' .. expires .. ' 0 0 0 0 0 ' .. request_mark .. ' 0'
  job.claim = '[' .. job.rev .. ',' .. job.seq .. ',"' .. from .. '",' .. now_text .. ',' .. expires .. ',' .. job.generation .. ','
    .. job.attempt .. ',"' .. job.fence .. '",' .. words .. ']'
  job.worker = worker
  texts[#texts + 1] = base .. 'job:' .. id
  texts[#texts + 1] = value_of(job)
  ticks[#ticks + 1] = tick_of(job)
  ticks[#ticks + 1] = id
  settle_in(id, job.kind, from, '@CLAIMED@')
  happened('@CLAIMED_EVENT@', job.rev, job.kind, now_text, id)
  grants[#grants + 1] = (mark or '') .. id .. ' ' .. job.fence
  given = given + 1
end

local walked = {}

-- From the front of a lane, in which those whose own clock has run out are the ticker's, and stand there no more.
local function walk(queue, lane)
  local key = base .. lane_key(queue, lane)
  while given < limit and looked < limit + @LOOKED_AT@ do
    local from = walked[key] or 0
    local ids = call('ZRANGE', key, '-inf', now_text, 'BYSCORE', 'LIMIT', from, limit - given)
    if #ids == 0 then
      return
    end
    walked[key] = from + #ids
    looked = looked + #ids
    fetch(ids)
    leave_lane(queue, lane, ids)
    for _, id in ipairs(ids) do
      local job = jobs[id]
      if job and not job.fence and (tonumber(job.tick) or now + 1) > now then
        take(id, job)
      end
    end
  end
end

-- From the front of those who were let in. Who is the ticker's keeps its place there, and its slots, until that has come to it.
local function walk_let_in(queue, lane)
  local key = base .. lane_key(queue, lane)
  local most = math.min(limit - given, limited)
  if most <= 0 then
    return
  end
  local ids = call('ZRANGE', key, '-inf', '+inf', 'BYSCORE', 'LIMIT', 0, @LANE_WINDOW@)
  fetch(ids)
  local taken = {}
  for _, id in ipairs(ids) do
    local job, spot = jobs[id], #taken < most and spot_at(id)
    if job and spot and not job.fence and (tonumber(job.tick) or now + 1) > now then
      tell_keys(spot)
      take(id, job, '*')
      claim_slots(id, spot)
      taken[#taken + 1] = id
    end
  end
  if #taken > 0 then
    limited = limited - #taken
    looked = looked + #taken
    leave_lane(queue, lane, taken)
  end
end

-- Members of a set, of some that are looked for.
local function among(key, wanted)
  local found = {}
  for first = 1, #wanted, 1000 do
    local some = { unpack(wanted, first, math.min(first + 999, #wanted)) }
    for i, is in ipairs(call('SMISMEMBER', key, unpack(some))) do
      if is == 1 then
        found[#found + 1] = some[i]
      end
    end
  end
  return found
end

-- Words as JSON has them, but for what stands between and in them. In pairs, since a backslash may stand for itself.
local BETWEEN = { n = '\n', t = '\t' }
local function words_in(quoted)
  return string.gmatch(string.gsub(sub(quoted, 2, -2), '\\(.)', BETWEEN), '[^\n]+')
end

local served_words = {}
if not is_whole then
  for i = 0, serve_count - 1 do
    for word in words_in(ARGV[FIRST_SERVED + i]) do
      served_words[word] = true
    end
  end
end
local any_type = serve_count < 0 or served_words['\t']

-- A type has no tab in it.
local function is_served(quoted)
  for word in words_in(quoted) do
    if not served_words[word] and (find(word, '\t', 1, true) or not any_type) then
      return false
    end
  end
  return true
end

-- The lanes beside one that this claim serves, of those there are, from a place that is another for another claim.
local beside = {}

-- `priority`: with a `+` before it, where those are meant that were let in.
local function served(queue, priority)
  local key, there = sides_key(queue), {}
  if beside[queue] == nil then
    beside[queue] = serve_count ~= 0 and call('SCARD', key) or 0
  end
  if beside[queue] == 0 then
    return there
  end
  if not is_whole then
    local most = @PRIORITIES@ * sides_most
    for _, lane in ipairs(beside[queue] > most and call('SRANDMEMBER', key, most) or call('SMEMBERS', key)) do
      if sub(lane, 1, #priority) == priority and is_served(sub(lane, #priority + 1)) then
        there[#there + 1] = lane
      end
    end
  else
    local wanted = {}
    for i = 0, serve_count - 1 do
      wanted[#wanted + 1] = priority .. ARGV[FIRST_SERVED + i]
    end
    there = among(key, wanted)
  end
  local order = {}
  for i = 1, math.min(#there, sides_most) do
    order[i] = there[(spin + i - 1) % #there + 1]
  end
  return order
end

local lanes, held, paused = {}, {}, {}
for i = FIRST_LANE, FIRST_SERVED - 1, 2 do
  lanes[#lanes + 1] = lane_key(ARGV[i], ARGV[i + 1])
  if limited > 0 then
    lanes[#lanes + 1] = lane_key(ARGV[i], '+' .. ARGV[i + 1])
  end
end
for _, lane in ipairs(among(base .. 'lanes', lanes)) do
  held[lane] = true
end

local function walk_plain(queue, priority)
  for _, lane in ipairs(served(queue, priority)) do
    walk(queue, lane)
  end
  if held[lane_key(queue, priority)] then
    walk(queue, priority)
  end
end

local function walk_beside(queue, priority)
  if limited <= 0 then
    return
  end
  for _, lane in ipairs(served(queue, '+' .. priority)) do
    walk_let_in(queue, lane)
  end
  if held[lane_key(queue, '+' .. priority)] then
    walk_let_in(queue, '+' .. priority)
  end
end

local WALKS = let_in_first and { walk_beside, walk_plain } or { walk_plain, walk_beside }
for i = FIRST_LANE, FIRST_SERVED - 1, 2 do
  if given >= limit then
    break
  end
  local queue, priority = ARGV[i], ARGV[i + 1]
  if paused[queue] == nil then
    paused[queue] = call('SISMEMBER', base .. 'paused', queue)
  end
  if paused[queue] == 0 then
    for _, each in ipairs(WALKS) do
      each(queue, priority)
    end
  end
end

with_births()
if given == 0 then
  adds[base .. 'tick'] = nil
end
if looked > 0 then
  look_lanes()
  write(name)
  leave_lanes()
  if given > 0 then
    call('SET', base .. 'claim:' .. request, table.concat(grants, ' '), 'PX', longest + @CLAIM_KEPT_MS@)
  end
end
return answer
