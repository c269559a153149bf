-- avante: tested at a9334315 in Neovim 0.12.4.
math.randomseed(vim.uv.hrtime()) -- else a chat from an earlier Neovim sends old prompts

local key = os.getenv("APP_API_KEY")
if not key then vim.notify("agent-gateway: APP_API_KEY is not set", vim.log.levels.ERROR) end

require("avante").setup({
  provider = "agent-gateway",
  session_recovery = { include_history_count = 1 }, -- not the earlier prompts again
  acp_providers = {
    ["agent-gateway"] = {
      command = "/absolute/path/agent-gateway",
      args = { "--bridge" },
      env = { APP_API_KEY = key, HOME = os.getenv("HOME") },
    },
  },
})
