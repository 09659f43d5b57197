-- What a script will write. It looks first, puts down here what is to become of each key, and writes all of it at the end: because
-- scripts are not rolled back, nothing that could fail may come after the first write.
local jobs, changed, kept, gone = {}, {}, {}, {}
local sorted, tallied, grown, shrunk, fields, unset, past = {}, {}, {}, {}, {}, {}, {}
local facts, told = {}, {}
local purged = 0

-- One after the other in groups of a thousand, which is what `unpack` can bear for certain.
local function many(command, key, list)
  for first = 1, #list, 1000 do
    call(command, key, unpack(list, first, math.min(first + 999, #list)))
  end
end

-- Where a member of a sorted set belongs: its score, or false.
local function place(key, member, score)
  local members = sorted[key]
  if not members then
    members = {}
    sorted[key] = members
  end
  members[member] = score
end

local function set_key(key, value)
  kept[key] = value
  gone[key] = nil
end

local function remove_key(key)
  kept[key] = nil
  gone[key] = true
end

local function added(list, key, ...)
  local members = list[key]
  if not members then
    members = {}
    list[key] = members
  end
  for i = 1, select('#', ...) do
    members[#members + 1] = (select(i, ...))
  end
end

local function count(kind, state, by)
  local field = kind .. ' ' .. state
  tallied[field] = (tallied[field] or 0) + by
end

-- What happened, for the log: jobs to which the same happened at once are one group.
local function happened(type, rev, kind, when, id)
  local head = type .. ' ' .. rev .. ' ' .. kind .. ' ' .. when
  local group = facts[#facts]
  if not group or group.head ~= head then
    group = { head = head, type = type, when = when }
    facts[#facts + 1] = group
  end
  group[#group + 1] = id
end

-- Hints are told in the call that they are about: of a queue once, of jobs by queue.
local function tell(line, id)
  local ids = told[line]
  if not ids then
    ids = {}
    told[line] = ids
  end
  if id then
    ids[#ids + 1] = id
  end
end

-- A look at every key that is about to be written, by a command that minds its type. The first of the sorted sets never exists, so
-- that nothing is compared.
local function touch()
  local keys = { base .. 'none' }
  for key in pairs(sorted) do
    keys[#keys + 1] = key
  end
  for first = 1, #keys, 1000 do
    local some = math.min(1000, #keys - first + 1)
    call('ZINTERCARD', some + 1, base .. 'none', unpack(keys, first, first + some - 1))
  end
  for key in pairs(grown) do
    call('SCARD', key)
  end
  for key in pairs(shrunk) do
    call('SCARD', key)
  end
  for key in pairs(fields) do
    call('HLEN', key)
  end
  for key in pairs(unset) do
    call('HLEN', key)
  end
  for key in pairs(past) do
    call('XLEN', key)
  end
  local leaving = {}
  for key in pairs(gone) do
    leaving[#leaving + 1] = key
  end
  for first = 1, #leaving, 1000 do
    call('EXISTS', unpack(leaving, first, math.min(first + 999, #leaving)))
  end
  if next(tallied) then
    call('HLEN', base .. 'tally')
  end
  if #facts > 0 then
    call('XLEN', base .. 'log')
  end
end

-- The entry of this call, first of all that is written: it alone could be refused by what is there.
local function write_entry(name)
  if #facts == 0 then
    return
  end
  seq = seq + 1
  local groups = {}
  for i, group in ipairs(facts) do
    groups[i] = group.head .. ' ' .. table.concat(group, ',')
    place(base .. 'type:' .. group.type, format('%015.0f', seq) .. '.' .. group.when, group.when)
  end
  local is_marked = now - marked < @MARK_EVERY_MS@
  if not is_marked then
    place(base .. 'marks', text(seq), now_text)
  end
  local entry = table.concat(groups, ';')
  touch()
  call('XADD', base .. 'log', text(seq) .. '-0', 'n', name, 'p', last_name, 'a', now_text, 't', entry)
  call('HSET', meta, 'seq', text(seq), 'name', name, 'marked', is_marked and text(marked) or now_text)
end

local function write_sorted()
  for key, members in pairs(sorted) do
    local come, leave = {}, {}
    for member, score in pairs(members) do
      if score then
        come[#come + 1] = score
        come[#come + 1] = member
      else
        leave[#leave + 1] = member
      end
    end
    many('ZADD', key, come)
    many('ZREM', key, leave)
  end
end

local function write_keys()
  local pairs_of = {}
  for key, value in pairs(kept) do
    pairs_of[#pairs_of + 1] = key
    pairs_of[#pairs_of + 1] = value
  end
  for first = 1, #pairs_of, 1000 do
    call('MSET', unpack(pairs_of, first, math.min(first + 999, #pairs_of)))
  end
  local keys = {}
  for key in pairs(gone) do
    keys[#keys + 1] = key
  end
  for first = 1, #keys, 1000 do
    call('UNLINK', unpack(keys, first, math.min(first + 999, #keys)))
  end
end

local function write_told()
  local lines = {}
  for line, ids in pairs(told) do
    lines[#lines + 1] = line .. '\t' .. table.concat(ids, ',')
  end
  if #lines > 0 then
    call('SPUBLISH', base .. 'hint', table.concat(lines, '\n'))
  end
end

-- All of it. `name` is the caller's name for this call.
local function write(name)
  if #facts > 0 then
    write_entry(name)
  else
    touch()
  end
  call('HSET', meta, 'at', now_text, 'ahead', text(ahead))
  if set_back > 0 then
    call('HINCRBY', meta, 'setBack', text(set_back))
  end
  if purged > 0 then
    call('HINCRBY', meta, 'purged', purged)
  end
  write_keys()
  for key, entries in pairs(past) do
    for i = 1, #entries, 2 do
      call('XADD', key, entries[i] .. '-0', 't', entries[i + 1])
    end
  end
  write_sorted()
  for field, by in pairs(tallied) do
    if by ~= 0 and call('HINCRBY', base .. 'tally', field, by) == 0 then
      call('HDEL', base .. 'tally', field)
    end
  end
  for key, pairs_of in pairs(fields) do
    many('HSET', key, pairs_of)
  end
  for key, names in pairs(unset) do
    many('HDEL', key, names)
  end
  for key, members in pairs(grown) do
    many('SADD', key, members)
  end
  for key, members in pairs(shrunk) do
    many('SREM', key, members)
  end
  write_told()
end
