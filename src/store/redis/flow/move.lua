-- What a change does to slots, keys and budgets.

-- The move of a key from the arguments, and where the next thing begins.
local function key_move(i)
  local how = ARGV[i]
  if how == '-' then
    return nil, i + 1
  end
  local it = { how = how, key = ARGV[i + 1], rev = ARGV[i + 2], on = ARGV[i + 3] ~= '-' and sub(ARGV[i + 3], 2) }
  if how ~= 'next' then
    return it, i + 4
  end
  it.limit, i = limit_words(i + 4)
  return it, i
end

-- Nobody is held, stands or is owned under the key.
local function is_deserted(key)
  return call('SCARD', base .. 'flows-of:' .. key) == 0 and call('ZCARD', base .. 'slots:' .. key) == 0
end

-- One that follows a change which did not come about may find its revision made by somebody else.
local function is_on(it)
  return limit_at(it.key).rev == it.rev and (not it.on or text_at(it.key) == it.on)
end

local function may_move_key(it)
  return is_on(it) and (it.how ~= 'forgotten' or is_deserted(it.key))
end

local function move_key(it)
  if it.how == 'next' then
    write_limit(it.limit, text(it.rev + 1))
  elseif it.how == 'forgotten' and limit_at(it.key).is_there then
    local tenant, of = unpack(call('HMGET', base .. 'limit:' .. it.key, 'tenant', 'name'))
    if tenant then
      place(base .. 'limits:' .. tenant, of, false)
    end
    for _, own in ipairs({ 'limit:', 'paces:', 'spends:' }) do
      remove_key(base .. own .. it.key)
      fields[base .. own .. it.key], sorted[base .. own .. it.key] = nil, nil
    end
    place(base .. 'wakes', it.key, false)
    place(base .. 'arrivals', 'k' .. it.key, false)
    limits[it.key] = { rev = '0', version = '0', rate_ms = 0, per_ms = 0 }
  end
end

-- What a change of a job with a flow brings besides.
local function flow_move(i)
  local it = { place = ARGV[i], before = ARGV[i + 1], spends = {} }
  it.flow, i = flow_words(i + 2)
  it.key, i = key_move(i)
  for _ = 1, tonumber(ARGV[i]) do
    it.spends[#it.spends + 1] = { key = ARGV[i + 1], amount = ARGV[i + 2] }
    i = i + 2
  end
  local births = tonumber(ARGV[i + 1])
  i = i + 2
  it.births = {}
  for n = 1, births do
    it.births[n], i = limit_words(i)
  end
  return it, i
end

local PLACES = {}

function PLACES.stay() end

function PLACES.leave(id, it, rev)
  if spot_at(id) then
    free_slots(id, rev)
  else
    unhold(id, it.before)
  end
end

function PLACES.hold(id, it, rev, ready_at)
  PLACES.leave(id, it, rev)
  hold(id, it.flow, ready_at)
end

-- An owner that is given a job by a commit has its slots, whether there is room or not.
function PLACES.own(id, it)
  local spot, flow = spot_at(id), it.flow
  if spot then
    quit_lane(spot.queue, '+' .. spot.lane, id)
    claim_slots(id, spot)
    return
  end
  unhold(id, it.before)
  with_keys(flow)
  for _, key in ipairs(flow.keys) do
    raise(key)
  end
  take_slots(id, {
    let_in = now_text, held_at = now_text, claimed = now_text, flow = flow.id, weigher = flow.weigher, keys = flow.keys, queue = flow.queue, lane = flow.lane,
  })
end

local function move_flow(id, it, rev, ready_at)
  bear_limits(it.births)
  PLACES[it.place](id, it, rev, ready_at)
  if it.key then
    move_key(it.key)
  end
  for n, spend in ipairs(it.spends) do
    if limit_at(spend.key).per_ms > 0 then
      place(base .. 'spends:' .. spend.key, spend.amount .. ':' .. id .. ':' .. rev .. ':' .. n, now_text)
      stir('k' .. spend.key)
    end
  end
end
