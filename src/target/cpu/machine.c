#include "target/cpu/cpu.h"

#include "base/buf.h"
#include "base/str.h"
#include "os/file.h"
#include "os/os.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL_FILE_BYTES = 1024 * 1024, MOST_CPUS = 1024 };

static char *read_small(const char *path, struct arena *arena)
{
    char *text = NULL;
    struct err ignored;
    return os_read_file(path, SMALL_FILE_BYTES, arena, &text, NULL, &ignored) ? text : NULL;
}

/* The value of the first "name : value" line, in the arena; "" where there is none. */
static const char *value_of(const char *text, const char *name, struct arena *arena)
{
    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (!str_starts_with(line, name))
            continue;
        const char *rest = line + strlen(name);
        rest += strspn(rest, " \t");
        if (*rest != ':')
            continue;
        rest++;
        rest += strspn(rest, " \t");
        return arena_strndup(arena, rest, strcspn(rest, "\n"));
    }
    return "";
}

/* Extensions that decide what code can be good; the rest of the list is noise. */
static bool matters(const char *flag)
{
    static const char *const prefixes[] = {"avx",  "fma",   "f16c", "bmi", "amx",  "sse4_2",
                                           "gfni", "asimd", "sve",  "sme", "fp16", "bf16"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        if (str_starts_with(flag, prefixes[i]) && !str_equal(flag, "smep"))
            return true;
    }
    return false;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *isa_of(const char *flags, struct arena *arena, struct arena *scratch)
{
    enum { MOST_FLAGS = 256 };
    const char *found[MOST_FLAGS];
    size_t count = 0;
    for (const char *at = flags; *at && count < MOST_FLAGS;) {
        at += strspn(at, " ");
        const size_t length = strcspn(at, " ");
        const char *word = arena_strndup(scratch, at, length);
        if (length > 0 && matters(word))
            found[count++] = word;
        at += length;
    }
    qsort(found, count, sizeof *found, by_name);
    struct buf text = {0};
    for (size_t i = 0; i < count; i++)
        (void)buf_printf(&text, "%s%s", i ? "," : "", found[i]);
    const char *out = arena_strdup(arena, buf_text(&text));
    buf_free(&text);
    return out;
}

/* "32K", "1024K", "32M" in bytes. */
static int64_t parse_size(const char *text)
{
    char *end = NULL;
    const int64_t value = strtoll(text, &end, 10);
    return *end == 'K' ? value * 1024 : *end == 'M' ? value * 1024 * 1024 : value;
}

/* The kernel's account, and where it has none, as in some virtual machines, the processor's own
 * (x86; zero elsewhere). */
static void read_caches(struct target_features *f, struct arena *scratch)
{
    enum { MOST_INDEX = 8 };
    bool is_known = false;
    for (int i = 0; i < MOST_INDEX; i++) {
        const char *dir = arena_printf(scratch, "/sys/devices/system/cpu/cpu0/cache/index%d", i);
        const char *level = read_small(os_path_join(scratch, dir, "level"), scratch);
        const char *type = read_small(os_path_join(scratch, dir, "type"), scratch);
        const char *size = read_small(os_path_join(scratch, dir, "size"), scratch);
        if (!level || !type || !size || str_starts_with(type, "Instruction"))
            continue;
        const long at = strtol(level, NULL, 10) - 1;
        if (at >= 0 && at < TARGET_MAX_CACHES)
            f->cache_bytes[at] = parse_size(size);
        is_known = true;
    }
    for (int level = 0; level < TARGET_MAX_CACHES && !is_known; level++)
        f->cache_bytes[level] = os_cache_bytes(level);
}

static int64_t vector_bytes(const char *isa)
{
    return strstr(isa, "avx512f") ? 64 : strstr(isa, "avx") ? 32 : 16;
}

/* Of what makes a measurement comparable: processor, extensions, caches and compilers. */
static struct hash_id identify(const struct target_features *f)
{
    struct buf text = {0};
    (void)buf_printf(&text, "%s\n%s\n%s\n%s\n%" PRId64 "\n", f->name, f->cpu, f->arch, f->isa,
                     f->vector_bytes);
    for (size_t i = 0; i < TARGET_MAX_CACHES; i++)
        (void)buf_printf(&text, "cache %" PRId64 "\n", f->cache_bytes[i]);
    for (size_t i = 0; i < f->compiler_count; i++)
        (void)buf_printf(&text, "%s %s\n", f->compilers[i].name, f->compilers[i].version);
    const struct hash_id id = hash_content(buf_text(&text), text.length);
    buf_free(&text);
    return id;
}

void machine_describe(struct target *target)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    struct target_features *f = &target->features;
    const char *info = read_small("/proc/cpuinfo", &scratch);
    const char *flags = value_of(info, "flags", &scratch);
    if (!*flags)
        flags = value_of(info, "Features", &scratch);
    f->cpu = value_of(info, "model name", &target->arena);
    f->isa = isa_of(flags, &target->arena, &scratch);
#if defined(__x86_64__)
    f->arch = "x86_64";
#elif defined(__aarch64__)
    f->arch = "aarch64";
#else
    f->arch = "unknown";
#endif
    f->os = os_kernel(&target->arena);
    f->cores = (int64_t)os_cpus_online();
    f->vector_bytes = vector_bytes(f->isa);
    read_caches(f, &scratch);
    f->id = identify(f);
}
