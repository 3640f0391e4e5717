/*
 * The readers of what a compiler made from hostile source: objects, images, disassemblies; and of
 * the source itself. The first byte says which; an object that passes the rules must be followed to
 * its id and scanned at every byte without a fault.
 */
#include "base/arena.h"
#include "target/cpu/cpu.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_object(const uint8_t *object, size_t size, struct arena *arena)
{
    static const char *const symbols[] = {"expf", "free", "malloc", "memcpy", "memset"};
    const struct object_rules rules = {.symbols = symbols,
                                       .symbol_count = sizeof symbols / sizeof *symbols,
                                       .threads = object[size - 1] & 1};
    const char *why = NULL;
    (void)scan_bytes(object, size, true, arena);
    if (object_check(object, size, &rules, arena, &why))
        (void)code_id(object, size, "k");
    else if (!why)
        abort();
    why = NULL;
    if (!image_check(object, size, arena, &why) && !why)
        abort();
}

static void read_text(const char *text, struct arena *arena)
{
    const char *why = NULL;
    (void)scan_instructions(text, arena);
    (void)scan_jumps(text, arena);
    (void)scan_finds_indirect_jump(text);
    if (!screen_source(text, arena, &why) && !why)
        abort();
    why = NULL;
    if (!flag_is_allowed("gcc", text, &why) && !why)
        abort();
    if (!flag_is_allowed("clang", text, &why) && !why)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_free) struct arena arena = {0};
    if (size < 2)
        return 0;
    if (data[0] % 2) {
        read_text(arena_strndup(&arena, (const char *)data + 1, size - 1), &arena);
        return 0;
    }
    /* Alone and aligned, so that each byte beyond it is seen. */
    uint8_t *object = aligned_alloc(16, (size - 1 + 15) / 16 * 16);
    if (!object)
        abort();
    memcpy(object, data + 1, size - 1);
    read_object(object, size - 1, &arena);
    free(object);
    return 0;
}
