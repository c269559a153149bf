-- CodeCompanion 19: tested at f1afd025 in Neovim 0.12.4.
require("codecompanion").setup({
  adapters = {
    acp = {
      agent_gateway = function()
        return {
          name = "agent_gateway",
          formatted_name = "agent-gateway",
          type = "acp",
          roles = { llm = "assistant", user = "user" },
          commands = { default = { "/absolute/path/agent-gateway", "--bridge" } },
          env = { APP_API_KEY = "cmd:pass show agent-gateway" }, -- not with the wrapper
          defaults = { mcpServers = {}, timeout = 20000 },
          parameters = {
            protocolVersion = 1,
            clientCapabilities = { fs = { readTextFile = true, writeTextFile = true } },
            clientInfo = { name = "CodeCompanion.nvim", version = "1.0.0" },
          },
          handlers = {
            setup = function(self)
              if not self.env or (self.env_replaced.APP_API_KEY or "") ~= "" then return true end
              vim.notify("agent-gateway: no API key: see env of its adapter", vim.log.levels.ERROR)
              return false
            end,
            auth = function() return true end,
            form_messages = function(self, messages)
              local blocks = {}
              for _, message in ipairs(messages) do
                local meta = message._meta
                local unsent = message.role == self.roles.user and meta and not meta.sent
                if unsent and (message.content or "") ~= "" then
                  if meta.tag == "image" then
                    local mime = message.context.mimetype -- refused with a message
                    table.insert(blocks, { type = "image", data = message.content, mimeType = mime })
                  else
                    table.insert(blocks, { type = "text", text = message.content })
                  end
                  meta.sent = true -- else a cancelled prompt is sent again with the next one
                end
              end
              return blocks
            end,
            on_exit = function() end,
          },
        }
      end,
    },
  },
  interactions = { chat = { adapter = "agent_gateway" } },
})
