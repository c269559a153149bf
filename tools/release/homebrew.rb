class AgentGateway < Formula
  desc "Terminal and editor client of a remote agent service"
  homepage "https://github.com/agent-gateway/agent-gateway"
  version "{{version}}"
  license "MIT"

  on_macos do
    on_arm do
      url "{{url:agent-gateway-aarch64-apple-darwin}}"
      sha256 "{{sha256:agent-gateway-aarch64-apple-darwin}}"
    end
    on_intel do
      url "{{url:agent-gateway-x86_64-apple-darwin}}"
      sha256 "{{sha256:agent-gateway-x86_64-apple-darwin}}"
    end
  end

  on_linux do
    on_arm do
      url "{{url:agent-gateway-aarch64-unknown-linux-gnu}}"
      sha256 "{{sha256:agent-gateway-aarch64-unknown-linux-gnu}}"
    end
    on_intel do
      url "{{url:agent-gateway-x86_64-unknown-linux-gnu}}"
      sha256 "{{sha256:agent-gateway-x86_64-unknown-linux-gnu}}"
    end
  end

  def install
    bin.install Dir["agent-gateway-*"].first => "agent-gateway"
    generate_completions_from_executable(bin/"agent-gateway", "--completions")
  end

  test do
    assert_match "agent-gateway #{version} ", shell_output("#{bin}/agent-gateway --version")
  end
end
