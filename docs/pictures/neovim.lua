-- What an editor does with its loop: commands run, files read and watched, a timer, and a callback that takes long.
local left = 6
for i = 1, left do
  vim.fn.jobstart({ 'sh', '-c', 'seq ' .. i * 2000 .. '; sleep 0.0' .. i }, {
    on_stdout = function() end,
    on_exit = function() left = left - 1 end,
  })
end
local ticks = vim.loop.new_timer()
ticks:start(0, 5, vim.schedule_wrap(function() vim.fn.strftime('%T') end))
for _, name in ipairs({ '/etc/passwd', '/etc/group', '/etc/services' }) do
  vim.loop.fs_stat(name, function() end)
end
vim.defer_fn(function()
  local text = {}
  for i = 1, 200000 do text[#text + 1] = tostring(i) end
  table.sort(text)
end, 30)
vim.wait(5000, function() return left == 0 end, 5)
vim.cmd('qa!')
