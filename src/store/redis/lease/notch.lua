-- When what is due was last asked for, and by whom.
local notch = call('HMGET', meta, 'dueAt', 'dueBy')
return { now_text, notch[1] or '0', notch[2] or '' }
