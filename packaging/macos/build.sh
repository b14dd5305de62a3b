#!/bin/sh
# Builds Clausebook.app and its .dmg:  packaging/macos/build.sh
# Needs Python 3.11, Xcode's command line tools and CMake, on a Mac with Apple silicon.
#
# Signing and notarisation, optional:
#   CODESIGN_IDENTITY   "Developer ID Application: …"
#   NOTARY_PROFILE      a profile made with `xcrun notarytool store-credentials`
set -eu
cd "$(dirname "$0")/../.."
work=build/package
out=dist
python=$work/venv/bin/python
mkdir -p "$work" "$out"
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}"
export MACOSX_DEPLOYMENT_TARGET=12.0

if [ ! -x "$python" ]; then
  python3.11 -m venv "$work/venv"
  "$python" -m pip install --quiet --require-hashes --requirement packaging/locks/macos.lock
  # Metal and one CPU kind: dynamic backends aren't needed where all machines are Apple's.
  wheel=$(CLAUSEBOOK_CMAKE_ARGS="-DGGML_METAL=ON -DGGML_METAL_EMBED_LIBRARY=ON" \
    "$python" packaging/build_llama.py native)
  "$python" -m pip install --quiet --no-deps "$wheel"
  # For preparing the models only; they are not frozen.
  python3.11 -m venv "$work/models-venv"
  "$work/models-venv/bin/python" -m pip install --quiet onnx safetensors numpy
fi
PYTHONPATH=packaging "$work/models-venv/bin/python" packaging/fetch_models.py build/models
"$python" packaging/icons.py "$work"
"$python" packaging/bundle.py "$work/clausebook"
"$python" packaging/documents.py "$work/clausebook" "$work/documents"

version=$("$python" -c 'import desktop_app; print(desktop_app.__version__)')
app=$work/pyinstaller/dist/Clausebook.app
cp -R "$work/documents/licences" "$app/Contents/Resources/licences"
if [ -n "${CODESIGN_IDENTITY:-}" ]; then
  codesign --force --deep --options runtime --timestamp \
    --entitlements packaging/macos/entitlements.plist --sign "$CODESIGN_IDENTITY" "$app"
  codesign --verify --deep --strict "$app"
fi
dmg=$out/clausebook-$version-macos-arm64.dmg
staging=$(mktemp -d)
cp -R "$app" "$staging/"
ln -s /Applications "$staging/Applications"
rm -f "$dmg"
hdiutil create -quiet -volname Clausebook -srcfolder "$staging" -format ULFO "$dmg"
rm -rf "$staging"
if [ -n "${CODESIGN_IDENTITY:-}" ] && [ -n "${NOTARY_PROFILE:-}" ]; then
  codesign --timestamp --sign "$CODESIGN_IDENTITY" "$dmg"
  xcrun notarytool submit "$dmg" --keychain-profile "$NOTARY_PROFILE" --wait
  xcrun stapler staple "$dmg"
  spctl --assess --type open --context context:primary-signature "$dmg"
fi
# The program as it lies in the image, not as it was built.
mounted=$(mktemp -d)
hdiutil attach -quiet -nobrowse -mountpoint "$mounted" "$dmg"
"$mounted/Clausebook.app/Contents/MacOS/clausebook" doctor --self-test
hdiutil detach -quiet "$mounted"
