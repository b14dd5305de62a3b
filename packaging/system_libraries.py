"""Libraries that stay with the system, and the Debian packages that bring them.

One table serves three purposes: the build leaves these libraries out of the bundle, the .deb
depends on their packages, and the audit accepts nothing else as missing. A bundled copy of one of
them would come from the build machine and could break the target's graphics drivers.
"""

from __future__ import annotations

import fnmatch
import re

# pattern of the library's name -> Debian packages, any of which brings it
PACKAGES: dict[str, str] = {
    "libc.so.6": "libc6 (>= 2.35)",
    "libm.so.6": "libc6 (>= 2.35)",
    "libdl.so.2": "libc6 (>= 2.35)",
    "librt.so.1": "libc6 (>= 2.35)",
    "libpthread.so.0": "libc6 (>= 2.35)",
    "libresolv.so.2": "libc6 (>= 2.35)",
    "ld-linux-x86-64.so.2": "libc6 (>= 2.35)",
    "libstdc++.so.6": "libstdc++6 (>= 12)",
    "libgcc_s.so.1": "libgcc-s1",
    "libgomp.so.1": "libgomp1",
    "libz.so.1": "zlib1g",
    "libzstd.so.1": "libzstd1",
    "libuuid.so.1": "libuuid1",
    "libGL.so.1": "libgl1",
    "libEGL.so.1": "libegl1",
    "libglib-2.0.so.0": "libglib2.0-0 (>= 2.60) | libglib2.0-0t64",
    "libgthread-2.0.so.0": "libglib2.0-0 (>= 2.60) | libglib2.0-0t64",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libexpat.so.1": "libexpat1",
    "libbrotlidec.so.1": "libbrotli1",
    "libbrotlicommon.so.1": "libbrotli1",
    "libgssapi_krb5.so.2": "libgssapi-krb5-2",
    "libX11.so.6": "libx11-6",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libxcb.so.1": "libxcb1",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-glx.so.0": "libxcb-glx0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-util.so.1": "libxcb-util1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libwayland-client.so.0": "libwayland-client0",
    "libwayland-cursor.so.0": "libwayland-cursor0",
    "libwayland-egl.so.1": "libwayland-egl1",
}

# Come with the packages above, or nobody needs them once those are left out.
ALSO_LEFT_OUT = (
    "libGLX.so.*", "libGLdispatch.so.*", "libOpenGL.so.*", "libX*.so.*", "libXau.so.*",
    "libXcomposite.so.*", "libXcursor.so.*", "libXdamage.so.*", "libXdmcp.so.*", "libXext.so.*",
    "libXfixes.so.*", "libXi.so.*", "libXinerama.so.*", "libXrandr.so.*", "libXrender.so.*",
    "libatk*.so.*", "libblkid.so.*", "libbsd.so.*", "libcairo*.so.*", "libcap.so.*",
    "libcom_err.so.*", "libcu*.so.*", "libdatrie.so.*", "libdrm.so.*", "libepoxy.so.*",
    "libfribidi.so.*", "libgbm.so.*", "libgcrypt.so.*", "libgdk*.so.*",
    "libgio-2.0.so.*", "libgmodule-*.so.*", "libgobject-2.0.so.*", "libgpg-error.so.*",
    "libgraphite2.so.*", "libgtk-*.so.*", "libharfbuzz*.so.*", "libjpeg.so.*", "libk5crypto.so.*",
    "libkeyutils.so.*", "libkrb5.so.*", "libkrb5support.so.*", "liblz4.so.*", "libmd.so.*",
    "libmount.so.*", "libnspr*.so.*", "libnss*.so.*", "libnv*.so.*", "libpango*.so.*",
    "libpcre.so.*", "libpcre2-8.so.*", "libpixman-1.so.*", "libpng16.so.*", "libselinux.so.*",
    "libsystemd.so.*", "libthai.so.*", "libtiff.so.*", "libtirpc.so.*", "libwayland-*.so.*",
    "libxcb-*.so.*",
)  # fmt: skip

OF_A_WHEEL = re.compile(r"-[0-9a-f]{8}\.so")  # under this name no other program loads it


def left_out(name: str) -> bool:
    """Whether a library found on the build machine's system stays out of the bundle."""
    if OF_A_WHEEL.search(name):
        return False
    return name in PACKAGES or any(fnmatch.fnmatch(name, pattern) for pattern in ALSO_LEFT_OUT)


def depends() -> list[str]:
    """The Depends of the Debian package, each once, in the table's order."""
    return list(dict.fromkeys(PACKAGES.values()))
