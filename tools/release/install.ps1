# Installs agent-gateway on Windows, from PowerShell 5.1 or later:
#
#     irm https://github.com/agent-gateway/agent-gateway/releases/latest/download/install.ps1 | iex
#
# With parameters:
#
#     & ([scriptblock]::Create((irm URL-AS-ABOVE))) -Version X.Y.Z -To DIR
#
# It downloads one file, compares it with the published SHA-256 sum (and with the
# attestation, if the GitHub CLI is logged in), moves it into place, and puts its
# folder on the user's PATH. It never asks for more rights. To uninstall, delete
# the program.
param(
  # That version instead of the latest one.
  [ValidatePattern('^v?[0-9A-Za-z.-]*$')][string]$Version = '',
  # The folder for the program.
  [string]$To = '',
  # A mirror of the releases.
  [ValidatePattern('^(https://|http://(localhost|127\.0\.0\.1)[:/])')]
  [string]$From = 'https://github.com/agent-gateway/agent-gateway/releases'
)

& {
  $ErrorActionPreference = 'Stop'
  $ProgressPreference = 'SilentlyContinue' # The progress bar slows downloads down.
  $repository = 'agent-gateway/agent-gateway'
  $releases = "https://github.com/$repository/releases"

  # PROCESSOR_ARCHITEW6432 is the system's when this shell is emulated.
  $architecture = $env:PROCESSOR_ARCHITEW6432
  if (-not $architecture) { $architecture = $env:PROCESSOR_ARCHITECTURE }
  $target = switch ($architecture) {
    'AMD64' { 'x86_64-pc-windows-msvc' }
    'ARM64' { 'aarch64-pc-windows-msvc' }
    default { throw "There is no build for $architecture; see docs/install.md in https://github.com/$repository" }
  }
  $name = "agent-gateway-$target.exe"
  $Version = $Version -replace '^v', ''
  $url = if ($Version) { "$From/download/v$Version" } else { "$From/latest/download" }

  $onPath = -not $To
  if (-not $To) { $To = "$env:LOCALAPPDATA\Programs\agent-gateway" }
  $null = New-Item -Force -ItemType Directory $To
  $To = (Resolve-Path $To).Path
  $work = Join-Path $To ".agent-gateway.$([guid]::NewGuid())"
  $null = New-Item -ItemType Directory $work
  try {
    [Net.ServicePointManager]::SecurityProtocol =
      [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12
    Write-Host "Downloading $url/$name"
    Invoke-WebRequest -UseBasicParsing "$url/SHA256SUMS" -OutFile "$work\SHA256SUMS"
    Invoke-WebRequest -UseBasicParsing "$url/$name" -OutFile "$work\agent-gateway.exe"

    $line = Select-String -Path "$work\SHA256SUMS" -Pattern "^([0-9a-f]{64})  $([regex]::Escape($name))$"
    if (-not $line) { throw "SHA256SUMS of this release has no sum for $name" }
    $expected = $line.Matches[0].Groups[1].Value
    $actual = (Get-FileHash -Algorithm SHA256 "$work\agent-gateway.exe").Hash
    if ($actual -ne $expected) {
      throw "The download is damaged: its SHA-256 sum is $actual instead of $expected; nothing was installed"
    }
    if ($From -eq $releases -and (Get-Command gh -ErrorAction SilentlyContinue)) {
      gh auth status 2>&1 | Out-Null
      if ($LASTEXITCODE -eq 0) {
        gh attestation verify "$work\agent-gateway.exe" --repo $repository | Out-Null
        if ($LASTEXITCODE -ne 0) {
          throw 'The GitHub CLI does not find an attestation of this file: it is not installed'
        }
        Write-Host "Attestation verified: built by $repository"
      }
    }

    $installed = & "$work\agent-gateway.exe" --version
    if ($LASTEXITCODE -ne 0) { throw 'The program does not start on this system; nothing was installed' }
    # Windows lets a running program be renamed, not overwritten.
    $file = Join-Path $To 'agent-gateway.exe'
    if (Test-Path $file) {
      Remove-Item -Force "$file.old" -ErrorAction SilentlyContinue
      Move-Item -Force $file "$file.old"
    }
    Move-Item "$work\agent-gateway.exe" $file
    Remove-Item -Force "$file.old" -ErrorAction SilentlyContinue
    Write-Host "Installed ${file}: $installed"

    $path = [Environment]::GetEnvironmentVariable('Path', 'User')
    if (";$path;" -notlike "*;$To;*") {
      if ($onPath) {
        [Environment]::SetEnvironmentVariable('Path', "$path;$To".Trim(';'), 'User')
        Write-Host "$To was put on your PATH: open a new terminal to use it"
      } else {
        Write-Host "$To is not on your PATH"
      }
    }
    Write-Host "To uninstall: Remove-Item '$file'"
  } finally {
    Remove-Item -Recurse -Force $work
  }
}
