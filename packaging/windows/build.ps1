# Builds the Windows installer:  powershell -File packaging\windows\build.ps1
# Needs Python 3.11, Visual Studio's C++ tools, CMake and Inno Setup 6 (iscc on the path).
#
# Signing, optional:
#   $env:CLAUSEBOOK_SIGN_COMMAND  a command for one file, with $f for its path, for example
#       signtool sign /fd sha256 /tr https://timestamp… /td sha256 /n "Name in the certificate" $f
$ErrorActionPreference = "Stop"
Set-Location (Join-Path $PSScriptRoot "..\..")
$work = "build\package"
$out = "dist"
$python = "$work\venv\Scripts\python.exe"
New-Item -ItemType Directory -Force $work, $out | Out-Null

function Invoke-Checked { param([scriptblock]$Command) & $Command; if ($LASTEXITCODE) { throw "Failed: $Command" } }

if (-not (Test-Path $python)) {
    Invoke-Checked { py -3.11 -m venv "$work\venv" }
    Invoke-Checked { & $python -m pip install --quiet --require-hashes --requirement packaging\locks\windows.lock }
    $wheel = & $python packaging\build_llama.py portable
    if ($LASTEXITCODE) { throw "llama-cpp-python could not be built" }
    Invoke-Checked { & $python -m pip install --quiet --no-deps $wheel }
    # For preparing the models only; they are not frozen.
    Invoke-Checked { py -3.11 -m venv "$work\models-venv" }
    Invoke-Checked { & "$work\models-venv\Scripts\python.exe" -m pip install --quiet onnx safetensors numpy }
}
$env:PYTHONPATH = "packaging"
Invoke-Checked { & "$work\models-venv\Scripts\python.exe" packaging\fetch_models.py build\models }
Invoke-Checked { & $python packaging\icons.py $work }
Invoke-Checked { & $python packaging\bundle.py "$work\clausebook" }
Invoke-Checked { & $python packaging\documents.py "$work\clausebook" "$work\documents" }

$version = & $python -c "import desktop_app; print(desktop_app.__version__)"
$defines = @("/DVersion=$version", "/DProgram=$((Resolve-Path "$work\clausebook").Path)", "/DOut=$((Resolve-Path $out).Path)")
if ($env:CLAUSEBOOK_SIGN_COMMAND) {
    Get-ChildItem "$work\clausebook\*.exe" | ForEach-Object {
        Invoke-Expression ($env:CLAUSEBOOK_SIGN_COMMAND.Replace('$f', "`"$($_.FullName)`""))
        if ((Get-AuthenticodeSignature $_.FullName).Status -ne "Valid") { throw "$_ is not signed" }
    }
    $defines += @("/DSign=1", "/Sclausebook=$($env:CLAUSEBOOK_SIGN_COMMAND)")
}
Invoke-Checked { iscc /Qp @defines packaging\windows\clausebook.iss }
if ($env:CLAUSEBOOK_SIGN_COMMAND) {
    Get-ChildItem "$out\*.exe" | ForEach-Object {
        if ((Get-AuthenticodeSignature $_.FullName).Status -ne "Valid") { throw "$_ is not signed" }
    }
}
