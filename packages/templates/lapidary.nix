# Nix: callPackage ./lapidary.nix { }. Written by packages/build. The programs are static, so nothing is patched.
{ lib, stdenvNoCC, fetchurl, installShellFiles }:

let
  sources = {
    x86_64-linux = { url = "@url:x86_64-unknown-linux-musl@"; sha256 = "@sha256:x86_64-unknown-linux-musl@"; };
    aarch64-linux = { url = "@url:aarch64-unknown-linux-musl@"; sha256 = "@sha256:aarch64-unknown-linux-musl@"; };
    x86_64-darwin = { url = "@url:x86_64-apple-darwin@"; sha256 = "@sha256:x86_64-apple-darwin@"; };
    aarch64-darwin = { url = "@url:aarch64-apple-darwin@"; sha256 = "@sha256:aarch64-apple-darwin@"; };
  };
in
stdenvNoCC.mkDerivation {
  pname = "lapidary";
  version = "@version@";
  src = fetchurl sources.${stdenvNoCC.hostPlatform.system};
  nativeBuildInputs = [ installShellFiles ];
  installPhase = ''
    install -Dm755 lapidary $out/bin/lapidary
    installManPage lapidary.1
    installShellCompletion completions/lapidary.bash completions/lapidary.fish completions/_lapidary
  '';
  meta = {
    description = "@summary@";
    homepage = "https://github.com/@repository@";
    license = with lib.licenses; [ mit asl20 ];
    mainProgram = "lapidary";
    platforms = builtins.attrNames sources;
    sourceProvenance = [ lib.sourceTypes.binaryNativeCode ];
  };
}
