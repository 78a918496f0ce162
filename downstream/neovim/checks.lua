-- Runs inside Neovim.
local uv = vim.loop
local short = vim.fn.argv(0) == 'short'
local function rounds(few, many) return short and few or many end

local function check(name, run)
  local ok, why = pcall(run)
  if ok then
    io.stdout:write('ok - ' .. name .. '\n')
  else
    io.stdout:write('not ok - ' .. name .. ': ' .. tostring(why):gsub('%s+', ' '):sub(1, 500) .. '\n')
  end
  io.stdout:flush()
end

local function same(a, b)
  if not vim.deep_equal(a, b) then error(vim.inspect(a) .. ' is not ' .. vim.inspect(b), 2) end
end
local function wait(holds, what)
  if not vim.wait(10000, holds, 5) then error((what or 'it') .. ' does not come', 2) end
end

check('the library is in Neovim', function()
  local seen = {}
  for line in io.lines('/proc/self/maps') do
    local path = line:match('(/%S*libuv%.so%S*)')
    if path then seen[path] = true end
  end
  same(vim.tbl_keys(seen), { vim.env.OXUV_LIBRARY })
end)

check('jobs: output, input, codes', function()
  local out, err, code = {}, {}, nil
  local job = vim.fn.jobstart({ 'sh', '-c', 'cat; echo err >&2; exit 7' }, {
    on_stdout = function(_, data) vim.list_extend(out, data) end,
    on_stderr = function(_, data) vim.list_extend(err, data) end,
    on_exit = function(_, status) code = status end,
  })
  vim.fn.chansend(job, 'in\n')
  vim.fn.chanclose(job, 'stdin')
  wait(function() return code end)
  same({ table.concat(out, '|'), table.concat(err, '|'), code }, { 'in||', 'err||', 7 })
  same(vim.fn.jobwait({ vim.fn.jobstart({ 'sleep', '20' }) }, 50), { -1 })
  same(pcall(vim.fn.jobstart, { '/no/such' }), false)
end)

check('jobs are stopped, also those that do not listen', function()
  local codes = {}
  local function start(script) return vim.fn.jobstart({ 'sh', '-c', script }, { on_exit = function(id, code) codes[id] = code end }) end
  local plain = start('sleep 30')
  local deaf = start("trap '' TERM; echo up; while :; do sleep 0.1; done")
  vim.wait(200)
  vim.fn.jobstop(plain)
  vim.fn.jobstop(deaf)
  wait(function() return codes[plain] and codes[deaf] end)
  same({ codes[plain], codes[deaf] }, { 143, 137 })
end)

check('forty jobs at once', function()
  local codes, count = {}, 0
  for i = 1, 40 do
    vim.fn.jobstart({ 'sh', '-c', 'exit ' .. i }, { on_exit = function(_, code) codes[i] = code; count = count + 1 end })
  end
  wait(function() return count == 40 end)
  for i = 1, 40 do same(codes[i], i) end
end)

check('system() with much text, in and out', function()
  local text = ('line of some text\n'):rep(rounds(50000, 500000))
  same(#vim.fn.system('cat', text), #text)
  same(vim.v.shell_error, 0)
  same(vim.fn.systemlist('printf "a\\nb"'), { 'a', 'b' })
  vim.fn.system('exit 9')
  same(vim.v.shell_error, 9)
end)

check('a filter of a buffer, and a file written and read', function()
  vim.cmd('enew!')
  vim.api.nvim_buf_set_lines(0, 0, -1, true, { 'c', 'a', 'b' })
  vim.cmd('silent %!sort')
  same(vim.api.nvim_buf_get_lines(0, 0, -1, true), { 'a', 'b', 'c' })
  vim.cmd('silent write! written')
  same(vim.fn.readfile('written'), { 'a', 'b', 'c' })
end)

check('timers', function()
  local ticks, order = 0, {}
  local id = vim.fn.timer_start(5, function() ticks = ticks + 1 end, { ['repeat'] = -1 })
  for _, delay in ipairs({ 60, 20, 40 }) do vim.defer_fn(function() order[#order + 1] = delay end, delay) end
  wait(function() return ticks >= 10 and #order == 3 end)
  same(order, { 20, 40, 60 })
  vim.fn.timer_stop(id)
  local before = ticks
  vim.wait(40)
  same(ticks, before)
end)

check('channels over TCP and a pipe', function()
  local child = vim.fn.jobstart({ vim.v.progpath, '--embed', '--headless', '-u', 'NONE', '-i', 'NONE', '-n' }, { rpc = true })
  for mode, address in pairs({ tcp = '127.0.0.1:0', pipe = vim.fn.getcwd() .. '/channel' }) do
    local server = vim.fn.rpcrequest(child, 'nvim_call_function', 'serverstart', { address })
    local channel = vim.fn.sockconnect(mode, server, { rpc = true })
    for i = 1, rounds(50, 500) do same(vim.fn.rpcrequest(channel, 'nvim_eval', i .. ' + 1'), i + 1) end
    same(#vim.fn.rpcrequest(channel, 'nvim_eval', 'repeat("x", 200000)'), 200000)
    vim.fn.chanclose(channel)
  end
  vim.fn.rpcnotify(child, 'nvim_command', 'qa!')
  same(vim.fn.jobwait({ child }, 5000), { 0 })
  same(pcall(vim.fn.sockconnect, 'pipe', '/no/such'), false)
end)

check('a Neovim inside, by RPC', function()
  local child = vim.fn.jobstart({ vim.v.progpath, '--embed', '--headless', '-u', 'NONE', '-i', 'NONE', '-n' }, { rpc = true })
  same(vim.fn.rpcrequest(child, 'nvim_eval', '40 + 2'), 42)
  vim.fn.rpcrequest(child, 'nvim_buf_set_lines', 0, 0, -1, true, { 'one', 'two' })
  same(vim.fn.rpcrequest(child, 'nvim_eval', 'line("$")'), 2)
  vim.fn.rpcnotify(child, 'nvim_command', 'qa!')
  same(vim.fn.jobwait({ child }, 5000), { 0 })
end)

check('a terminal buffer', function()
  vim.cmd('enew!')
  local code
  local job = vim.fn.termopen({ 'sh', '-c', 'tty; read line; echo "got $line"; stty size; exit 3' }, { on_exit = function(_, status) code = status end })
  local function text() return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), '\n') end
  wait(function() return text():find('/dev/pts/') end, 'the name of the terminal')
  vim.fn.chansend(job, 'hello\r')
  wait(function() return code end, 'the end')
  same(code, 3)
  wait(function() return text():find('got hello') and text():find('%d+ %d+') end, 'the answer')
end)

check('vim.loop: echo over TCP', function()
  local server, echoed, closed = uv.new_tcp(), {}, 0
  server:bind('127.0.0.1', 0)
  server:listen(128, function(err)
    assert(not err, err)
    local peer = uv.new_tcp()
    server:accept(peer)
    peer:read_start(function(_, data)
      if data then peer:write(data) else peer:shutdown(function() peer:close() end) end
    end)
  end)
  for i = 1, 30 do
    local client, parts = uv.new_tcp(), {}
    client:connect('127.0.0.1', server:getsockname().port, function(err)
      assert(not err, err)
      client:read_start(function(_, data)
        if data then parts[#parts + 1] = data else
          echoed[i] = table.concat(parts)
          client:close(function() closed = closed + 1 end)
        end
      end)
      client:write((tostring(i) .. ' '):rep(20000))
      client:shutdown()
    end)
  end
  wait(function() return closed == 30 end)
  for i = 1, 30 do same(echoed[i] == (tostring(i) .. ' '):rep(20000), true) end
  server:close()
end)

check('vim.loop: files, and changes of them', function()
  local fd = assert(uv.fs_open('watched', 'w+', 420))
  same(uv.fs_write(fd, 'hello', 0), 5)
  same(uv.fs_read(fd, 10, 1), 'ello')
  same(uv.fs_fstat(fd).size, 5)
  local seen, looks = {}, {}
  local event, poll = uv.new_fs_event(), uv.new_fs_poll()
  event:start('watched', {}, function(err, name, events) seen[#seen + 1] = { err, name, events } end)
  poll:start('watched', 20, function(_, before, now) looks[#looks + 1] = { before.size, now.size } end)
  vim.wait(60)
  uv.fs_write(fd, ' again', 5)
  wait(function() return #seen > 0 and #looks > 0 end)
  same({ seen[1][2], seen[1][3].change, looks[1] }, { 'watched', true, { 5, 11 } })
  event:close()
  poll:close()
  uv.fs_close(fd)
  local done
  uv.fs_stat('/no/such', function(err) done = err end)
  wait(function() return done end)
  same(done:match('^ENOENT'), 'ENOENT')
end)

check('vim.loop: processes, signals, idle, async and work', function()
  local code, signal, out
  local stdout = uv.new_pipe(false)
  local process = uv.spawn('sh', { args = { '-c', 'echo up; kill -9 $$' }, stdio = { nil, stdout } }, function(c, s) code, signal = c, s end)
  stdout:read_start(function(_, data) out = out or data end)
  wait(function() return signal and out end)
  same({ code, signal, out }, { 0, 9, 'up\n' })
  process:close()
  stdout:close()
  local usr = 0
  local handler = uv.new_signal()
  handler:start('sigusr2', function() usr = usr + 1 end)
  uv.kill(uv.os_getpid(), 'sigusr2')
  wait(function() return usr == 1 end)
  handler:close()
  local sum, woken = 0, 0
  for i = 1, 50 do
    uv.new_work(function(a, b) return a * b end, function(product) sum = sum + product end):queue(i, 2)
  end
  local async
  async = uv.new_async(function(value) woken = value; async:close() end)
  uv.new_thread(function(handle) handle:send(5) end, async)
  wait(function() return sum == 2550 and woken == 5 end)
  local idles = 0
  local idle = uv.new_idle()
  idle:start(function() idles = idles + 1 end)
  wait(function() return idles > 20 end)
  idle:close()
end)

check('names', function()
  local found
  uv.getaddrinfo('localhost', nil, { family = 'inet', socktype = 'stream' }, function(_, list) found = list end)
  wait(function() return found end)
  same(found[1].addr, '127.0.0.1')
end)

check('file watches in the editor: a file that changes outside', function()
  vim.fn.writefile({ 'first' }, 'outside')
  vim.o.autoread = true
  vim.cmd('edit! outside')
  local event = uv.new_fs_event()
  event:start(vim.fn.getcwd() .. '/outside', {}, vim.schedule_wrap(function() vim.cmd('silent! checktime') end))
  vim.wait(50)
  vim.fn.system('sleep 0.05; echo second and longer > outside')
  wait(function() return vim.fn.getline(1) == 'second and longer' end, 'the new text')
  event:close()
end)
