# Homebrew formula. Written by packages/build; goes into the tap homebrew-lapidary as Formula/lapidary.rb.
class Lapidary < Formula
  desc "MCP server for Obsidian vaults"
  homepage "https://github.com/@repository@"
  version "@version@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "@url:aarch64-apple-darwin@"
      sha256 "@sha256:aarch64-apple-darwin@"
    end
    on_intel do
      url "@url:x86_64-apple-darwin@"
      sha256 "@sha256:x86_64-apple-darwin@"
    end
  end

  on_linux do
    on_arm do
      url "@url:aarch64-unknown-linux-musl@"
      sha256 "@sha256:aarch64-unknown-linux-musl@"
    end
    on_intel do
      url "@url:x86_64-unknown-linux-musl@"
      sha256 "@sha256:x86_64-unknown-linux-musl@"
    end
  end

  def install
    bin.install "lapidary"
    man1.install "lapidary.1"
    bash_completion.install "completions/lapidary.bash" => "lapidary"
    zsh_completion.install "completions/_lapidary"
    fish_completion.install "completions/lapidary.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/lapidary --version")
    assert_match "Stone Log", shell_output("#{bin}/lapidary search --demo slate")
  end
end
