-- New jobs: of `insert`, and successors of `commit`.

-- Who holds a key, by what this call has made of it so far; one that has run out is free.
local holders = {}

local function holder_of(key)
  if holders[key] == nil then
    local value = call('GET', base .. 'key:' .. key)
    local id, expires = match(value or '', '^(%S+) (%S+)$')
    holders[key] = id and (expires == '-' or tonumber(expires) > now) and id or false
  end
  return holders[key]
end

local function take_key(key, id, expires)
  holders[key] = id
  set_key(base .. 'key:' .. key, id .. ' ' .. expires)
  added(grown, base .. 'tied:' .. id, 'k' .. key)
end

local function give_key(key, id)
  if holder_of(key) == id then
    holders[key] = false
    remove_key(base .. 'key:' .. key)
    added(shrunk, base .. 'tied:' .. id, 'k' .. key)
  end
end

local function mark_job(mark, id)
  place(base .. 'mark:' .. mark, id, '0')
  added(grown, base .. 'tied:' .. id, 'm' .. mark)
end

-- A new job from the arguments, and where the next thing begins.
local function newcomer(i)
  local born = {
    id = ARGV[i], value = ARGV[i + 1], born = ARGV[i + 2], at = ARGV[i + 3], queue = ARGV[i + 4], lane = ARGV[i + 5], ready_at = ARGV[i + 6],
    keys = {}, marks = {}, bodies = {},
  }
  i = i + 7
  for _ = 1, tonumber(ARGV[i]) do
    born.keys[#born.keys + 1] = { by = ARGV[i + 1], key = ARGV[i + 2], expires = ARGV[i + 3] }
    i = i + 3
  end
  i = i + 1
  for _ = 1, tonumber(ARGV[i]) do
    i = i + 1
    born.marks[#born.marks + 1] = ARGV[i]
  end
  i = i + 1
  for _ = 1, 2 * tonumber(ARGV[i]) do
    i = i + 1
    born.bodies[#born.bodies + 1] = ARGV[i]
  end
  if born.lane == '@IN_FLOW@' then
    born.limits = {}
    born.flow, i = flow_words(i + 1)
    local births = tonumber(ARGV[i])
    i = i + 1
    for n = 1, births do
      born.limits[n], i = limit_words(i)
    end
    return born, i
  end
  return born, i + 1
end

-- By what it meets another job, and which; nothing where all is free.
local function meeting(born)
  if job_at(born.id) or is_evicted(born.id) then
    return 'id', born.id
  end
  for _, wanted in ipairs(born.keys) do
    local holder = holder_of(wanted.key)
    if holder then
      return wanted.by, holder
    end
  end
end

local function hold_newborn(born)
  bear_limits(born.limits)
  if born.ready_at ~= '-' then
    hold(born.id, born.flow, born.ready_at)
  end
end

local function bear(born)
  local id = born.id
  local job = job_in(born.value)
  job.was = nil
  keep_job(id, job)
  set_key(base .. 'born:' .. id, born.born)
  if job.tick ~= '-' then
    place(base .. 'tick', id, job.tick)
  end
  if born.flow then
    hold_newborn(born)
  elseif born.ready_at ~= '-' then
    enter_lane(born.queue, born.lane, id, born.ready_at)
    tell('queue\t' .. born.queue .. '\t' .. sub(born.lane, 2))
  else
    -- What is born at rest waits to be judged.
    place(base .. 'judge', id, born.at)
  end
  for _, wanted in ipairs(born.keys) do
    take_key(wanted.key, id, wanted.expires)
  end
  for _, mark in ipairs(born.marks) do
    mark_job(mark, id)
  end
  if #born.bodies > 0 then
    added(fields, base .. 'body:' .. id, unpack(born.bodies))
  end
  happened('@ENQUEUED_EVENT@', job.rev, job.kind, born.at, id)
end
