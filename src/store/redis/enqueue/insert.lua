-- New jobs, each there or not at all; together all of them or none.
local name, together, most = ARGV[3], ARGV[4] == '1', tonumber(ARGV[5])
local newcomers, ids, answer = {}, {}, { now_text }
local i = 6
for n = 1, most do
  newcomers[n], i = newcomer(i)
  ids[n] = newcomers[n].id
end
fetch(ids)
local met, born = 0, 0
for n, each in ipairs(newcomers) do
  local by, holder = meeting(each)
  if by then
    met = met + 1
    answer[n + 1] = by .. ' ' .. holder
  else
    born = born + 1
    answer[n + 1] = ''
    bear(each)
  end
end
if born > 0 and not (together and met > 0) then
  write_jobs()
  look_lanes()
  write(name)
end
return answer
