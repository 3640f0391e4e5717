/* addr2line on an image that was built with lines, confined like a compiler. */
#include "target/cpu/building.h"

#include "base/str.h"
#include "os/file.h"
#include "os/os.h"
#include "os/process.h"

#include <inttypes.h>
#include <string.h>

#define LINES_LIMIT_NS INT64_C(20000000000)

static const char tool_name[] = "addr2line", image_file[] = "image.so", list_file[] = "addresses";

struct lookup {
    const char *path;
    const void *image;
    size_t image_bytes;
    const uint64_t *addresses;
    size_t count;
    struct tool_output *out;
};

static bool write_list(struct building *b, const struct lookup *l)
{
    CLEANUP(buf_free) struct buf list = {0};
    for (size_t i = 0; i < l->count; i++)
        (void)buf_printf(&list, "0x%" PRIx64 "\n", l->addresses[i]);
    return build_put_file(b, list_file, buf_text(&list), strlen(buf_text(&list)));
}

static bool look_up(struct building *b, void *context)
{
    const struct lookup *l = context;
    const char *const argv[] = {l->path, "-a", "-i", "-e", image_file, "@addresses", NULL};
    struct process_result result;
    return build_put_file(b, image_file, l->image, l->image_bytes) && write_list(b, l) &&
           build_run_tool(b, argv, LINES_LIMIT_NS, TARGET_MOST_TOOL_BYTES, &result) &&
           build_tool_said(b, tool_name, &result, l->out);
}

bool cpu_lines(struct target *target, const void *image, size_t image_bytes,
               const uint64_t *addresses, size_t count, struct arena *arena,
               struct tool_output *out, struct err *err)
{
    CLEANUP(arena_free) struct arena step = {0};
    struct tool_output said = {.tool = tool_name};
    struct building b = {.target = target, .arena = arena, .step = &step};
    struct lookup l = {.path = os_find_program(tool_name, &step),
                       .image = image,
                       .image_bytes = image_bytes,
                       .addresses = addresses,
                       .count = count,
                       .out = &said};
    if (!l.path) {
        *out =
            build_tool_failed(tool_name, "addr2line is not installed (apt-get install binutils)");
        return true;
    }
    if (!build_ask_tool(&b, tool_name, look_up, &l, &said, err))
        return false;
    *out = said;
    return true;
}
