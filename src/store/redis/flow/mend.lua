-- What is derived, made anew: slots from the spots of jobs, and flows so that somebody looks at them. A spot is where a job stands or is owned.

local function mend_slots(key)
  local from, ids = 0, nil
  repeat
    ids = call('ZRANGE', base .. 'slots:' .. key, '-inf', '+inf', 'BYSCORE', 'LIMIT', from, @LOOKED_AT@)
    from = from + #ids
    for _, id in ipairs(ids) do
      local spot = spot_at(id)
      if not spot or not find(' ' .. table.concat(spot.keys, ' ') .. ' ', ' ' .. key .. ' ', 1, true) then
        for _, of in ipairs({ 'slots:', 'standing:', 'claims:' }) do
          place(base .. of .. key, id, false)
        end
      end
    end
  until #ids < @LOOKED_AT@
  raise(key)
  stir('k' .. key)
end

-- It waits nowhere, and is looked at as if it had just come.
local function mend_flow(id, ready_at, it)
  if not call('ZSCORE', base .. 'held:' .. it.id, id) then
    return
  end
  hold(id, it, ready_at)
  local flow = flow_at(it.id)
  local member = flow.number .. ' ' .. it.id
  if flow.waits ~= '' then
    local ring = flow.priority .. ' ' .. flow.waits
    place(base .. 'ring:' .. ring, member, false)
    place(base .. 'account:' .. flow.weigher .. ' ' .. ring, member, false)
  end
  flow.version, flow.waits, flow.next_at = text(flow.version + 1), '', '-'
  keep_flow(it.id, flow)
  place(base .. 'nexts', it.id, false)
end

-- What is said of it, and where the next change begins.
local function mended(i)
  for _ = 1, tonumber(ARGV[i]) do
    i = i + 1
    if limit_at(ARGV[i]).is_there then
      mend_slots(ARGV[i])
    end
  end
  i = i + 1
  for _ = 1, tonumber(ARGV[i]) do
    i = i + 1
    local spot = spot_at(ARGV[i])
    if spot then
      take_slots(ARGV[i], spot)
    end
  end
  i = i + 1
  local count_of = tonumber(ARGV[i])
  i = i + 1
  for _ = 1, count_of do
    local id, ready_at = ARGV[i], ARGV[i + 1]
    local it
    it, i = flow_words(i + 2)
    mend_flow(id, ready_at, it)
  end
  local spends = tonumber(ARGV[i])
  for n = 1, spends do
    if limit_at(ARGV[i + 1]).per_ms > 0 then
      place(base .. 'spends:' .. ARGV[i + 1], ARGV[i + 2] .. ':0:' .. now_text .. ':' .. n, now_text)
      stir('k' .. ARGV[i + 1])
    end
    i = i + 2
  end
  i = i + 1
  for n = 1, tonumber(ARGV[i]) do
    place(base .. 'paces:' .. ARGV[i + 1], '0:' .. now_text .. ':' .. n, ARGV[i + 2])
    i = i + 2
  end
  return i + 1
end
