-- Jobs come back from the ledger, as it had them at an entry. Refused where one has left since: it may be one of these, which was back,
-- changed and gone again meanwhile. Items: id, and the commands that make it.
if evicted > tonumber(ARGV[4]) then
  return { now_text, 'again' }
end
local coming_jobs, lines = {}, {}
for i = 5, #ARGV, 2 do
  if is_evicted(ARGV[i]) then
    coming_jobs[#coming_jobs + 1] = ARGV[i]
    for _, line in ipairs(cjson.decode(ARGV[i + 1])) do
      line[2] = base .. line[2]
      call('EXISTS', line[2])
      lines[#lines + 1] = line
    end
  end
end
if #coming_jobs > 0 then
  -- First what needs no room: who would remove jobs from a server that is full brings them back before.
  call('SREM', base .. 'evicted', unpack(coming_jobs))
  for _, line in ipairs(lines) do
    call(unpack(line))
  end
end
return { now_text, 'yes' }
