-- Where jobs with a flow are, and what is taken of their keys. What is to become of them, and who is let in, has been decided before.
--
--   flow:<flow>   a text: version, number, pass, when it is looked at again, priority, whose weight it has; in lines of their own its
--                 keys, its queue, its lane, and where it waits. It is kept for a day when it has no job
--   held:<flow>   its jobs, by when they are ready
--   spot:<id>     of a job that stands or is owned: when it was let in, when it was ready, when it was claimed, its flow, whose weight
--                 that has, its keys; its queue; its lane
--   limit:<key>   a hash: the key's document, and the numbers of its gate that are compared here
--   slots, claims, standing, paces, spends:<key>   what is taken of it
local limits = {}

local function keep_flow(id, it)
  flows[id] = it
  set_key(base .. 'flow:' .. id, it.version .. ' ' .. it.number .. ' ' .. it.pass .. ' ' .. it.next_at .. ' ' .. it.priority .. ' ' .. it.weigher
    .. '\n' .. table.concat(it.keys, ' ') .. '\n' .. it.queue .. '\n' .. it.lane .. '\n' .. it.waits)
end

local function keep_spot(id, it)
  spots[id] = it
  set_key(base .. 'spot:' .. id, it.let_in .. ' ' .. it.held_at .. ' ' .. it.claimed .. ' ' .. it.flow .. ' ' .. it.weigher .. ' ' .. table.concat(it.keys, ' ')
    .. '\n' .. it.queue .. '\n' .. it.lane)
end

local function limit_at(key)
  if limits[key] == nil then
    local rev, version, rate_ms, per_ms = unpack(call('HMGET', base .. 'limit:' .. key, 'rev', 'version', 'rateMs', 'perMs'))
    limits[key] = { is_there = rev and true, rev = rev or '0', version = version or '0', rate_ms = tonumber(rate_ms or 0), per_ms = tonumber(per_ms or 0) }
  end
  return limits[key]
end

-- The key's document, as this script may have left it.
local function text_at(key)
  return limit_at(key).text or call('HGET', base .. 'limit:' .. key, 'text')
end

-- Who counts on what is taken of the key must look again.
local function raise(key)
  local it = limit_at(key)
  it.version = text(it.version + 1)
  added(fields, base .. 'limit:' .. key, 'version', it.version)
end

local function write_limit(it, rev)
  local known = limit_at(it.id)
  known.is_there, known.rev, known.text, known.rate_ms, known.per_ms = true, rev, it.text, tonumber(it.rate_ms), tonumber(it.per_ms)
  local key = base .. 'limit:' .. it.id
  added(fields, key, 'tenant', it.tenant, 'name', it.name, 'rev', rev, 'since', it.since, 'rateMs', it.rate_ms, 'perMs', it.per_ms,
    'weight', it.weight, 'gate', it.gate, 'text', it.text)
  if it.log ~= '-' then
    added(fields, key, 'log', sub(it.log, 2))
  end
  if rev ~= '0' then
    place(base .. 'limits:' .. it.tenant, it.name, '0')
  end
  raise(it.id)
  stir('k' .. it.id)
end

-- A key of which nobody has said anything counts slots, and limits nothing.
local function unsaid(key, tenant, name)
  if not limit_at(key).is_there then
    write_limit({
      id = key, tenant = tenant, name = name, since = '0', rate_ms = '0', per_ms = '0', weight = '1', gate = '@UNSAID_GATE@', text = '', log = '-',
    }, '0')
  end
end

-- A key's document from the arguments, and where the next thing begins.
local function limit_words(i)
  return {
    id = ARGV[i], tenant = ARGV[i + 1], name = ARGV[i + 2], since = ARGV[i + 3], rate_ms = ARGV[i + 4], per_ms = ARGV[i + 5], weight = ARGV[i + 6],
    gate = ARGV[i + 7], text = ARGV[i + 8], log = ARGV[i + 9],
  }, i + 10
end

-- Keys of which somebody has said something stay as they are.
local function bear_limits(births)
  for _, it in ipairs(births) do
    if limit_at(it.id).rev == '0' then
      write_limit(it, '1')
    end
  end
end

-- A flow from the arguments, with the names of its keys, and where the next thing begins.
local function flow_words(i)
  local it = { id = ARGV[i], weigher = ARGV[i + 1], queue = ARGV[i + 2], lane = ARGV[i + 3], tenant = ARGV[i + 4], keys = {}, names = {} }
  i = i + 5
  for _ = 1, tonumber(ARGV[i]) do
    it.keys[#it.keys + 1], it.names[#it.names + 1] = ARGV[i + 1], ARGV[i + 2]
    i = i + 2
  end
  return it, i + 1
end

local function with_keys(it)
  for n, key in ipairs(it.keys) do
    unsaid(key, it.tenant, it.names[n])
  end
end

local flow_count
local with_jobs = {}

-- Keeps a job among the held of its flow, which is made where it is new.
local function keep_held(id, it, ready_at)
  local flow = flow_at(it.id)
  if not flow then
    flow_count = (flow_count or tonumber(call('HGET', base .. 'hall', 'flows') or 0)) + 1
    added(fields, base .. 'hall', 'flows', text(flow_count))
    flow = {
      version = '0', number = format('%011.0f', flow_count), pass = '0', next_at = '-', priority = sub(it.lane, 1, 1), weigher = it.weigher,
      keys = it.keys, queue = it.queue, lane = it.lane, waits = '',
    }
  end
  place(base .. 'held:' .. it.id, id, ready_at)
  if not with_jobs[it.id] then
    with_jobs[it.id] = true
    -- Written again although it is the same: it is not to be forgotten any more.
    keep_flow(it.id, flow)
    for _, key in ipairs(flow.keys) do
      added(grown, base .. 'flows-of:' .. key, it.id)
    end
  end
end

local function hold(id, it, ready_at)
  with_keys(it)
  keep_held(id, it, ready_at)
  stir('f' .. it.id)
end

local function unhold(id, flow)
  place(base .. 'held:' .. flow, id, false)
  stir('f' .. flow)
end

-- A slot of each of its keys for a job that is let in, or that somebody owns.
local function take_slots(id, spot)
  keep_spot(id, spot)
  for _, key in ipairs(spot.keys) do
    place(base .. 'slots:' .. key, id, spot.let_in)
    place(base .. 'standing:' .. key, id, spot.claimed == '-' and spot.let_in)
    place(base .. 'claims:' .. key, id, spot.claimed ~= '-' and spot.claimed)
  end
  place(base .. 'stood', id, spot.claimed == '-' and spot.let_in)
end

local waited = {}

-- Of a lane that is left somebody is to look only where somebody waits for it.
local function stir_lane(queue, lane)
  local where = 'lane ' .. lane_key(queue, '+' .. lane)
  if waited[where] == nil then
    waited[where] = call('SISMEMBER', base .. 'waited', sub(lane, 1, 1) .. ' ' .. where) == 1
    if waited[where] then
      stir('l' .. sub(where, 6))
    end
  end
end

local function claim_slots(id, spot)
  spot.claimed = now_text
  take_slots(id, spot)
  stir_lane(spot.queue, spot.lane)
end

-- What the rate still counts of a slot that is free stays as a pace.
local function free_slots(id, rev)
  local spot = spot_at(id)
  if not spot then
    return
  end
  for _, key in ipairs(spot.keys) do
    for _, of in ipairs({ 'slots:', 'standing:', 'claims:' }) do
      place(base .. of .. key, id, false)
    end
    if spot.claimed ~= '-' and tonumber(spot.claimed) > now - limit_at(key).rate_ms then
      place(base .. 'paces:' .. key, id .. ':' .. rev, spot.claimed)
    end
    stir('k' .. key)
  end
  if spot.claimed == '-' then
    place(base .. 'stood', id, false)
    quit_lane(spot.queue, '+' .. spot.lane, id)
    stir_lane(spot.queue, spot.lane)
  end
  spots[id] = false
  remove_key(base .. 'spot:' .. id)
end
