# Script: writes the bytes of the file IN as an array NAME in the header OUT.
# SPDX-License-Identifier: BSL-1.0
file(READ "${IN}" bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
string(MAKE_C_IDENTIFIER "${NAME}" NAME)
file(WRITE "${OUT}" "// Generated from a fatbin.\n#pragma once\n\ninline constexpr unsigned char ${NAME}[] = {\n${bytes}};\n")
