;; For agent-shell 0.74 to 0.79; 0.74.3 was tested in Emacs 30.2.
(defun my/agent-gateway-make-config ()
  "Return the agent-shell configuration of agent-gateway."
  (agent-shell-make-agent-config
   :identifier 'agent-gateway
   :mode-line-name "agent-gateway"
   :buffer-name "agent-gateway"
   :shell-prompt "agent-gateway> "
   :shell-prompt-regexp "agent-gateway> "
   :needs-authentication nil
   :client-maker
   (lambda (buffer)
     (acp-make-client
      :context-buffer buffer
      :command "/absolute/path/agent-gateway"
      :command-params '("--bridge")
      :environment-variables
      (list (concat "APP_API_KEY="
                    (or (auth-source-pick-first-password
                         :host "agent-gateway" :user "apikey")
                        (user-error "No agent-gateway entry in auth-source"))))))
   :install-instructions "Put agent-gateway on exec-path."))

(with-eval-after-load 'agent-shell
  (add-to-list 'agent-shell-agent-configs #'my/agent-gateway-make-config))
(setq agent-shell-session-strategy 'new) ; else an error at the start may open no window
(setq agent-shell-thought-process-expand-by-default t) ; shows the progress
