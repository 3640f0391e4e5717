# One interface target carries the warnings, sanitizers and definitions of every target of ours.
add_library(kope_flags INTERFACE)
target_compile_definitions(kope_flags INTERFACE _POSIX_C_SOURCE=200809L KOPE_VERSION="${PROJECT_VERSION}")
target_compile_options(kope_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes
  -Wold-style-definition -Wconversion -Wsign-conversion -Wdouble-promotion -Wcast-qual
  -Wcast-align -Wpointer-arith -Wwrite-strings -Wvla -Wundef -Wswitch-enum
  -Wimplicit-fallthrough -Wformat=2 -Wnull-dereference -Wredundant-decls -fno-common
  -fstack-protector-strong)
# Constants are anonymous enumerators here (no macros), so that they stand beside doubles as numbers do.
target_compile_options(kope_flags INTERFACE $<$<C_COMPILER_ID:Clang>:-Wno-enum-float-conversion>)
if(KOPE_WERROR)
  target_compile_options(kope_flags INTERFACE -Werror)
endif()
if(KOPE_SANITIZE STREQUAL "address")
  target_compile_options(kope_flags INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(kope_flags INTERFACE -fsanitize=address,undefined)
elseif(KOPE_SANITIZE STREQUAL "thread")
  target_compile_options(kope_flags INTERFACE -fsanitize=thread -fno-omit-frame-pointer)
  target_link_options(kope_flags INTERFACE -fsanitize=thread)
endif()
