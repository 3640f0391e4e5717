/*
 * The child's loader: any bytes as an image. It is loaded and has its entry within itself, or is
 * refused with a reason; nothing outside of the file and of its own memory is read or written.
 */
#include "runner/runner.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* In the place of symbols.c: two functions, never called. */
runner_function symbol_find(const char *name)
{
    return strcmp(name, "memcpy") == 0 || strcmp(name, "expf") == 0 ? (runner_function)abort : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { PAGE_BYTES = 4096 };
    struct image image = {0};
    const char *why = NULL;
    if (size == 0)
        return 0;
    /* As the runner has it: at the beginning of a page, and, for the sanitizer, no longer than it
     * is. */
    uint8_t *file = aligned_alloc(PAGE_BYTES, (size + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES);
    if (!file)
        abort();
    memcpy(file, data, size);
    if (image_load(file, size, &image, &why)) {
        const uintptr_t entry = (uintptr_t)image.entry, base = (uintptr_t)image.base;
        if (entry < base || entry >= base + image.bytes)
            abort();
        (void)munmap((void *)base, image.bytes);
    } else if (!why || !*why) {
        abort();
    }
    free(file);
    return 0;
}
