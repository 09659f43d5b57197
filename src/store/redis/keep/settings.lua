-- Small documents, compared and swapped by revision. A document is its revision, when it was written, and its text.
local name = ARGV[3]
local answer = { now_text }
local documents, written_to, names = {}, {}, {}

local function document(collection, key)
  local place_of = collection .. ' ' .. key
  if documents[place_of] == nil then
    documents[place_of] = call('HGET', base .. 'set:' .. collection, key)
  end
  return documents[place_of], place_of
end

local function rev_of(there)
  return there and match(there, '^%d+') or '0'
end

local OPERATIONS = {}

function OPERATIONS.get(collection, key)
  return { 'ok', key, (document(collection, key)) }
end

function OPERATIONS.put(collection, key, rev, body, is_paused)
  local there, place_of = document(collection, key)
  if rev ~= '-' and rev ~= rev_of(there) then
    return { 'conflict', key, there }
  end
  local written = text(rev_of(there) + 1) .. ' ' .. now_text .. ' ' .. body
  documents[place_of] = written
  written_to[place_of] = { collection, key }
  place(base .. 'names:' .. collection, key, '0')
  if collection == 'queue' then
    names[key] = is_paused == '1'
  end
  return { 'ok', key, written }
end

function OPERATIONS.remove(collection, key, rev)
  local there, place_of = document(collection, key)
  if rev ~= '-' and rev ~= rev_of(there) then
    return { 'conflict', key, there }
  end
  documents[place_of] = false
  written_to[place_of] = { collection, key }
  place(base .. 'names:' .. collection, key, false)
  if collection == 'queue' then
    names[key] = false
  end
  return { 'ok', key, false }
end

for i = 4, #ARGV, 6 do
  answer[#answer + 1] = OPERATIONS[ARGV[i]](ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4], ARGV[i + 5])
end
if next(written_to) then
  for place_of, where in pairs(written_to) do
    if documents[place_of] then
      added(fields, base .. 'set:' .. where[1], where[2], documents[place_of])
    else
      added(unset, base .. 'set:' .. where[1], where[2])
    end
  end
  for key, is_paused in pairs(names) do
    stir('q' .. key)
    added(is_paused and grown or shrunk, base .. 'paused', key)
  end
  if next(names) then
    tell('anything')
  end
  write(name)
end
return answer
