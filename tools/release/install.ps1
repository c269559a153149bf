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
# folder on the user's PATH. It never asks for more rights. -Uninstall removes the
# program, and the folder from PATH, but not that of -To, which it never puts there.
# It replaces and removes nothing but this program.
param(
  # That version instead of the latest one.
  [ValidatePattern('^v?[0-9A-Za-z.-]*$')][string]$Version = '',
  # The folder for the program.
  [string]$To = '',
  # A mirror of the releases, with the same paths below it.
  [ValidatePattern('^(https://|http://(localhost|127\.0\.0\.1)(:\d+)?(/|$))')]
  [string]$From = 'https://github.com/agent-gateway/agent-gateway/releases',
  [switch]$Uninstall
)

& {
  $ErrorActionPreference = 'Stop'
  $ProgressPreference = 'SilentlyContinue' # The progress bar slows downloads down.
  $repository = 'agent-gateway/agent-gateway'
  $manual = "see docs/install.md in https://github.com/$repository"
  if ($ExecutionContext.SessionState.LanguageMode -ne 'FullLanguage') {
    throw "A policy of this machine (Constrained Language mode) lets scripts do too little to install the program; $manual for other ways"
  }

  # The user's PATH as it is stored, with %VARIABLES% in it.
  function Get-UserPath {
    (Get-Item -LiteralPath 'HKCU:\Environment').GetValue('Path', '', 'DoNotExpandEnvironmentNames')
  }

  function Set-UserPath([string]$Path) {
    Set-ItemProperty -LiteralPath 'HKCU:\Environment' -Name 'Path' -Value $Path -Type ExpandString
    # .NET sends WM_SETTINGCHANGE for a variable of any name.
    $name = "agent-gateway-$([guid]::NewGuid())"
    [Environment]::SetEnvironmentVariable($name, '1', 'User')
    [Environment]::SetEnvironmentVariable($name, [NullString]::Value, 'User')
  }

  # A PATH without a folder, however the folder is spelt there.
  function Remove-Entry([string]$Path, [string]$Folder) {
    $others = $Path -split ';' | Where-Object {
      [Environment]::ExpandEnvironmentVariables($_).Trim('"').TrimEnd('\') -ne $Folder.TrimEnd('\')
    }
    $others -join ';'
  }

  # Whether the GitHub CLI succeeds. PowerShell 5.1 takes what a program writes to
  # its standard error for an error of the script.
  function Test-Gh {
    $ErrorActionPreference = 'SilentlyContinue'
    $null = gh @args 2>&1
    $LASTEXITCODE -eq 0
  }

  function Expand-Gzip([string]$Path, [string]$Destination) {
    $source = [IO.File]::OpenRead($Path)
    $target = [IO.File]::Create($Destination)
    try {
      $mode = [IO.Compression.CompressionMode]::Decompress
      $stream = New-Object IO.Compression.GZipStream($source, $mode)
      $stream.CopyTo($target)
    } finally {
      $target.Dispose()
      $source.Dispose()
    }
  }

  # A virus scanner may hold a program that has just run for some seconds.
  function Remove-Held([string]$Path) {
    for ($attempt = 1; ; $attempt++) {
      try {
        Remove-Item -Recurse -Force -LiteralPath $Path
        return
      } catch {
        if ($attempt -eq 10) { throw }
        Start-Sleep -Milliseconds 500
      }
    }
  }

  # Removes the programs that updates have replaced and that have ended. Without a
  # pattern: by the rules of -Filter, 'agent-gateway.exe.*' is agent-gateway.exe, too.
  # What is in use stays until the next time.
  function Remove-Replaced {
    $ErrorActionPreference = 'SilentlyContinue'
    Get-ChildItem -LiteralPath $replaced -Force | Remove-Item
    if (-not (Get-ChildItem -LiteralPath $replaced -Force)) { Remove-Item -LiteralPath $replaced }
  }

  # Fails unless the file in the folder is this program, which says so within 5 s.
  function Assert-Own {
    $left = 'it is left as it is: remove it yourself, or use -To'
    if ((Get-Item -LiteralPath $file -Force).Attributes -band [IO.FileAttributes]::ReparsePoint) {
      throw "$file is a link; $left"
    }
    if (Test-Path -LiteralPath $file -PathType Container) { throw "$file is a folder; $left" }
    $start = New-Object Diagnostics.ProcessStartInfo $file, '--version'
    $start.UseShellExecute = $false
    $start.CreateNoWindow = $true
    $start.RedirectStandardInput = $true
    $start.RedirectStandardOutput = $true
    $answer = try {
      $asked = [Diagnostics.Process]::Start($start)
      $asked.StandardInput.Close()
      $line = $asked.StandardOutput.ReadLineAsync()
      if ($line.Wait(5000) -and $asked.WaitForExit(5000)) { $line.Result } else { $asked.Kill() }
    } catch { "$_" }
    if ($answer -notmatch $isOwn) { throw "$file does not say within 5 s that it is agent-gateway; $left" }
  }

  # PROCESSOR_ARCHITEW6432 is the system's when this shell is emulated.
  $architecture = $env:PROCESSOR_ARCHITEW6432
  if (-not $architecture) { $architecture = $env:PROCESSOR_ARCHITECTURE }
  $target = switch ($architecture) {
    'AMD64' { 'x86_64-pc-windows-msvc' }
    'ARM64' { 'aarch64-pc-windows-msvc' }
    default { throw "There is no build for $architecture; $manual" }
  }
  $name = "agent-gateway-$target.exe"
  $Version = $Version -replace '^v', ''
  $From = $From.TrimEnd('/')
  $url = if ($Version) { "$From/download/v$Version" } else { "$From/latest/download" }

  $onPath = -not $To
  if (-not $To) { $To = "$env:LOCALAPPDATA\Programs\agent-gateway" }
  $To = $ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath($To)
  $file = Join-Path $To 'agent-gateway.exe'
  $replaced = Join-Path $To 'agent-gateway-replaced'
  $isOwn = '^agent-gateway \d+\.\d+\.\d'
  $path = Get-UserPath
  if (Test-Path -LiteralPath $file) {
    Assert-Own
  } elseif ($Uninstall) {
    Write-Host "There is no $file"
  }

  if ($Uninstall) {
    if (Test-Path -LiteralPath $file) {
      try { Remove-Held $file } catch { throw "$file is in use: end it, and try again ($_)" }
      Write-Host "Removed $file"
    }
    Remove-Replaced
    if ($onPath) {
      if ((Test-Path -LiteralPath $To) -and -not (Get-ChildItem -LiteralPath $To -Force)) {
        Remove-Item -LiteralPath $To
      }
      $others = Remove-Entry $path $To
      if ($others -ne $path) { Set-UserPath $others }
    }
    return
  }

  $isNew = -not (Test-Path -LiteralPath $To)
  $null = [IO.Directory]::CreateDirectory($replaced)
  $work = Join-Path ([IO.Path]::GetTempPath()) "agent-gateway-$([guid]::NewGuid())"
  $null = [IO.Directory]::CreateDirectory($work)
  # In a folder of the same disk: the last step is then a rename.
  $new = Join-Path $replaced "$([guid]::NewGuid()).exe"
  try {
    [Net.ServicePointManager]::SecurityProtocol =
      [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12
    Write-Host "Downloading $url/$name.gz"
    Invoke-WebRequest -UseBasicParsing "$url/SHA256SUMS" -OutFile "$work\SHA256SUMS"
    $sums = [IO.File]::ReadAllText("$work\SHA256SUMS")
    if ($sums -notmatch "(?m)^([0-9a-f]{64})  $([regex]::Escape($name))\r?$") {
      throw "SHA256SUMS of this release has no sum for $name"
    }
    $expected = $Matches[1]
    Invoke-WebRequest -UseBasicParsing "$url/$name.gz" -OutFile "$work\agent-gateway.exe.gz"
    Expand-Gzip "$work\agent-gateway.exe.gz" "$work\agent-gateway.exe"
    $actual = (Get-FileHash -Algorithm SHA256 -LiteralPath "$work\agent-gateway.exe").Hash
    if ($actual -ne $expected) {
      throw "The download is damaged: its SHA-256 sum is $actual instead of $expected; nothing was installed"
    }
    # Wherever the file comes from, a mirror included. An old CLI and one that is not
    # logged in cannot tell.
    if ((Get-Command gh -CommandType Application -ErrorAction SilentlyContinue) -and
      (Test-Gh auth status) -and (Test-Gh attestation verify --help)) {
      $tag = if ($Version) { [regex]::Escape($Version) } else { '[0-9]+\.[0-9]+\.[0-9]+' }
      $workflow = "^https://github\.com/$repository/\.github/workflows/release\.yml@refs/tags/v$tag$"
      if (-not (Test-Gh attestation verify "$work\agent-gateway.exe" --repo $repository --cert-identity-regex $workflow)) {
        throw 'The GitHub CLI does not find an attestation of this file: it is not installed'
      }
      Write-Host "Attestation verified: built by the release workflow of $repository"
    } else {
      Write-Host 'Not attested: an attestation needs the GitHub CLI (gh), logged in'
    }

    $installed = & "$work\agent-gateway.exe" --version
    if ($LASTEXITCODE -ne 0) { throw 'The program does not start on this system; nothing was installed' }
    if ($installed -notmatch $isOwn) { throw "$url/$name.gz is not agent-gateway: it says '$installed'; nothing was installed" }
    Copy-Item -LiteralPath "$work\agent-gateway.exe" -Destination $new
    # Windows lets a running program be renamed, not overwritten.
    $old = Join-Path $replaced "$([guid]::NewGuid()).exe"
    if (Test-Path -LiteralPath $file) { Move-Item -LiteralPath $file -Destination $old }
    try {
      Move-Item -LiteralPath $new -Destination $file
    } catch {
      if (Test-Path -LiteralPath $old) { Move-Item -LiteralPath $old -Destination $file }
      throw
    }
    Write-Host "Installed ${file}: $installed"

    if ((Remove-Entry $path $To) -eq $path) {
      if ($onPath) {
        Set-UserPath "$($path.TrimEnd(';'));$To".TrimStart(';')
        Write-Host "$To was put on your PATH: open a new terminal to use it"
      } else {
        Write-Host "$To is not on your PATH"
      }
    }
    Write-Host 'To uninstall, run this script with -Uninstall'
  } finally {
    Remove-Replaced
    # A first installation that failed leaves no folder.
    if ($isNew -and -not (Get-ChildItem -LiteralPath $To -Force)) {
      Remove-Item -LiteralPath $To
    }
    try { Remove-Held $work } catch { Write-Host "$work is in use and was left: $_" }
  }
}
