-- What a script will write. It looks first, puts down here what is to become of each key, and writes all of it at the end: because
-- scripts are not rolled back, nothing that could fail may come after the first write.
local jobs, changed, texts, kept, gone = {}, {}, {}, {}, {}
local sorted, adds, rems, tallied, grown, shrunk, fields, unset, past = {}, {}, {}, {}, {}, {}, {}, {}, {}
local facts, told, told_jobs = {}, {}, {}
local purged = 0

-- One after the other in groups of a thousand, which is what `unpack` can bear for certain.
local function many(command, key, list)
  for first = 1, #list, 1000 do
    call(command, key, unpack(list, first, math.min(first + 999, #list)))
  end
end

-- Members that come to a sorted set, each behind its score, and members that leave one. No member is in both.
local function coming(key)
  local list = adds[key]
  if not list then
    list = {}
    adds[key] = list
  end
  return list
end

local function leaving(key)
  local list = rems[key]
  if not list then
    list = {}
    rems[key] = list
  end
  return list
end

-- Where a member of a sorted set belongs that a call may move more than once: its score, or false.
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
  local states = tallied[kind]
  if not states then
    states = {}
    tallied[kind] = states
  end
  states[state] = (states[state] or 0) + by
end

-- What happened, for the log: jobs to which the same happened at once are one group.
local function happened(type, rev, kind, when, id)
  local group = facts[#facts]
  if not group or group.type ~= type or group.rev ~= rev or group.kind ~= kind or group.when ~= when then
    group = { type = type, rev = rev, kind = kind, when = when }
    facts[#facts + 1] = group
  end
  group[#group + 1] = id
end

-- Hints are told in the call that they are about: a line once, and jobs by queue.
local function tell(line)
  told[line] = true
end

local function tell_job(queue, id)
  local ids = told_jobs[queue]
  if not ids then
    ids = {}
    told_jobs[queue] = ids
  end
  ids[#ids + 1] = id
end

-- A look at every key that is about to be written; at sorted sets by a command that minds their type. The first of those never exists,
-- so that nothing is compared.
local function touch()
  local sets, others = {}, { base .. 'tally', base .. 'log' }
  for _, some in ipairs({ sorted, adds, rems }) do
    for key in pairs(some) do
      sets[#sets + 1] = key
    end
  end
  for _, some in ipairs({ grown, shrunk, fields, unset, past, gone, kept }) do
    for key in pairs(some) do
      others[#others + 1] = key
    end
  end
  for first = 1, #sets, 1000 do
    local last = math.min(first + 999, #sets)
    call('ZINTERCARD', last - first + 2, base .. 'none', unpack(sets, first, last))
  end
  for first = 1, #others, 1000 do
    call('EXISTS', unpack(others, first, math.min(first + 999, #others)))
  end
end

-- Before the first write: nobody acts on a hint before the script ends, and who may not publish there must not find that out when all is written.
local function write_told()
  local lines = {}
  for line in pairs(told) do
    lines[#lines + 1] = line
  end
  for queue, ids in pairs(told_jobs) do
    lines[#lines + 1] = 'job\t' .. queue .. '\t' .. table.concat(ids, ',')
  end
  if #lines > 0 then
    call('SPUBLISH', base .. 'hint', table.concat(lines, '\n'))
  end
end

-- The entry of this call, first of all that is written: it alone could be refused by what is there.
local function write_entry(name)
  if #facts == 0 then
    return
  end
  seq = seq + 1
  local groups = {}
  local place_of = format('%015.0f', seq) .. '.'
  for i, group in ipairs(facts) do
    groups[i] = group.type .. ' ' .. group.rev .. ' ' .. group.kind .. ' ' .. group.when .. ' ' .. table.concat(group, ',')
    place(base .. 'type:' .. group.type, place_of .. group.when, group.when)
  end
  local is_marked = now - marked < @MARK_EVERY_MS@
  if not is_marked then
    place(base .. 'marks', text(seq), now_text)
  end
  local entry = table.concat(groups, ';')
  touch()
  write_told()
  call('XADD', base .. 'log', text(seq) .. '-0', 'n', name, 'p', last_name, 'a', now_text, 't', entry)
  marked = is_marked and marked or now
  last_name = name
end

local function write_sorted()
  for key, members in pairs(rems) do
    many('ZREM', key, members)
  end
  for key, members in pairs(adds) do
    many('ZADD', key, members)
  end
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
  for key, value in pairs(kept) do
    texts[#texts + 1] = key
    texts[#texts + 1] = value
  end
  for first = 1, #texts, 1000 do
    call('MSET', unpack(texts, first, math.min(first + 999, #texts)))
  end
end

local function remove_keys()
  local keys = {}
  for key in pairs(gone) do
    keys[#keys + 1] = key
  end
  for first = 1, #keys, 1000 do
    call('UNLINK', unpack(keys, first, math.min(first + 999, #keys)))
  end
end

-- All of it. `name` is the caller's name for this call.
local function write(name)
  if #facts > 0 then
    write_entry(name)
  else
    touch()
    write_told()
  end
  -- A server whose memory is full refuses what needs more as the first thing a script writes, and never what makes room.
  remove_keys()
  call('HSET', meta, 'seq', text(seq), 'name', last_name, 'at', now_text, 'ahead', text(ahead), 'marked', text(marked))
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
  for kind, states in pairs(tallied) do
    for state, by in pairs(states) do
      local field = kind .. ' ' .. state
      if by ~= 0 and call('HINCRBY', base .. 'tally', field, by) == 0 then
        call('HDEL', base .. 'tally', field)
      end
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
end
