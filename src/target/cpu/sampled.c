/*
 * A child that is looked at: its instruction's address, each time its CPU clock has gone on by a
 * period. The parent asks for this while the child waits for it, before it hides; the box is what
 * it always is. What comes is the kernel's word, not the child's: only where the image lies does
 * the child say, before its candidate runs.
 */
#include "target/cpu/cpu.h"
#include "target/cpu/elf_file.h"

#include "base/str.h"
#include "base/vec.h"
#include "os/file.h"
#include "os/sampling.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MOST_SAMPLES = 1 << 16,
    READ_AT_ONCE = 4096,
    MOST_RUNNER_BYTES = 64 * 1024 * 1024,
    MOST_FUNCTIONS = 16,
    MOST_NAME_BYTES = 60
};

struct sampled {
    struct os_sampling *sampling; /* NULL: refused */
    const char *problem;          /* memory of the session */
    uint64_t *addresses;
    size_t count, capacity;
    int64_t lost;
};

void sampled_open(struct cpu_session *s, int64_t period_ns)
{
    struct err why;
    struct sampled *sampled = arena_alloc(&s->base.arena, sizeof *sampled);
    *sampled = (struct sampled){.problem = ""};
    s->sampled = sampled;
    if (!os_sampling_open(s->pid, period_ns, &sampled->sampling, &why))
        sampled->problem = arena_strdup(&s->base.arena, why.message);
}

void sampled_close(struct cpu_session *s)
{
    if (!s->sampled)
        return;
    os_sampling_close(&s->sampled->sampling);
    free(s->sampled->addresses);
    s->sampled = NULL;
}

const char *sampled_problem(struct arena *arena)
{
    struct os_sampling *sampling = NULL;
    struct err why;
    if (!os_sampling_open(getpid(), 1000000, &sampling, &why))
        return arena_strdup(arena, why.message);
    os_sampling_close(&sampling);
    return "";
}

void sampled_begin(struct cpu_session *s)
{
    if (s->sampled && s->sampled->sampling)
        os_sampling_set(s->sampled->sampling, true);
}

void sampled_end(struct cpu_session *s)
{
    struct sampled *sampled = s->sampled;
    uint64_t some[READ_AT_ONCE];
    if (!sampled || !sampled->sampling)
        return;
    os_sampling_set(sampled->sampling, false);
    for (size_t got = READ_AT_ONCE; got == READ_AT_ONCE;) {
        uint64_t lost = 0;
        got = os_sampling_read(sampled->sampling, some, READ_AT_ONCE, &lost);
        sampled->lost += (int64_t)lost;
        for (size_t i = 0; i < got; i++) {
            if (sampled->count == MOST_SAMPLES) {
                sampled->lost++;
                continue;
            }
            sampled->addresses = vec_reserve_one(sampled->addresses, sampled->count,
                                                 &sampled->capacity, sizeof *sampled->addresses);
            sampled->addresses[sampled->count++] = some[i];
        }
    }
}

/* --- names of the functions of the C library that the runner brings ----------------------------
 */

struct symbols {
    const Elf64_Sym *items;
    size_t count;
    const char *names;
    size_t names_bytes;
    uint64_t own_at, own_bytes; /* where the runner's own functions are */
};

/* Of the runner's file, where it has not been stripped. */
static struct symbols read_symbols(const char *path, struct arena *arena)
{
    struct symbols out = {.count = 0};
    struct elf elf;
    struct err ignored;
    char *file = NULL;
    size_t length = 0;
    if (!os_read_file(path, MOST_RUNNER_BYTES, arena, &file, &length, &ignored) ||
        !elf_open(file, length, ET_EXEC, &elf))
        return out;
    for (size_t i = 0; i < elf.section_count; i++) {
        const Elf64_Shdr *table = &elf.sections[i];
        if (str_equal(elf_section_name(&elf, table), RUNNER_SECTION)) {
            out.own_at = table->sh_addr;
            out.own_bytes = table->sh_size;
        }
        if (table->sh_type != SHT_SYMTAB || table->sh_link >= elf.section_count ||
            !elf_within(&elf, table->sh_offset, table->sh_size) || table->sh_offset % 8 != 0)
            continue;
        const Elf64_Shdr *names = &elf.sections[table->sh_link];
        if (!elf_within(&elf, names->sh_offset, names->sh_size) || names->sh_size == 0)
            continue;
        out.items = (const Elf64_Sym *)(const void *)(elf.data + table->sh_offset);
        out.count = table->sh_size / sizeof(Elf64_Sym);
        out.names = (const char *)elf.data + names->sh_offset;
        out.names_bytes = names->sh_size;
    }
    return out;
}

/* "" where no function has this address. */
static const char *name_at(const struct symbols *symbols, uint64_t address)
{
    for (size_t i = 0; i < symbols->count; i++) {
        const Elf64_Sym *symbol = &symbols->items[i];
        if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_name < symbols->names_bytes &&
            address >= symbol->st_value && address - symbol->st_value < symbol->st_size)
            return symbols->names + symbol->st_name;
    }
    return "";
}

/* "__expf_fma" as "expf", "__memset_avx512_unaligned_erms" as "memset". */
static const char *plain_name(const char *name, struct arena *arena)
{
    static const char *const endings[] = {"_fma", "_avx", "_sse", "_evex", "_erms"};
    static const char ieee[] = "ieee754_";
    name += strspn(name, "_");
    if (str_starts_with(name, ieee))
        name += strlen(ieee);
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const char *at = strstr(name, endings[i]);
        if (at && at > name && (size_t)(at - name) < length)
            length = (size_t)(at - name);
    }
    return arena_strndup(arena, name, length < MOST_NAME_BYTES ? length : MOST_NAME_BYTES);
}

static void add_call(struct session_samples *out, struct sample_function *functions,
                     const char *name, int64_t hits)
{
    out->called += hits;
    for (size_t i = 0; i < out->function_count; i++) {
        if (str_equal(functions[i].name, name)) {
            functions[i].hits += hits;
            return;
        }
    }
    if (out->function_count < MOST_FUNCTIONS)
        functions[out->function_count++] = (struct sample_function){name, hits};
}

static int by_address(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int by_hits(const void *a, const void *b)
{
    const struct sample_function *x = a, *y = b;
    if (x->hits != y->hits)
        return x->hits > y->hits ? -1 : 1;
    return strcmp(x->name, y->name);
}

static uint64_t image_end(const struct cpu_session *s)
{
    enum { MOST_SPAN = 64 * 1024 * 1024 }; /* as the loader allows */
    return s->image_at + MOST_SPAN;
}

/* The loop of calls, OpenMP and the threads' work and waiting are the runner's, and nothing that
 * the candidate has in its hand; so is what they wait with in the C library, which no candidate may
 * call (runner/symbols.c). `name` is plain. */
static bool is_runners(const struct symbols *symbols, uint64_t address, const char *name)
{
    static const char *const waits[] = {"sched_yield", "syscall", "sem_", "new_sem_",
                                        "futex_abstimed_wait"};
    if (address >= symbols->own_at && address - symbols->own_at < symbols->own_bytes)
        return true;
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        if (str_starts_with(name, waits[i]))
            return true;
    }
    return false;
}

static void sort_out(const struct cpu_session *s, struct arena *arena, struct session_samples *out)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    const struct sampled *sampled = s->sampled;
    const struct symbols symbols = read_symbols(cpu_state_of(s->base.target)->runner, &scratch);
    uint64_t *sorted = arena_memdup(&scratch, sampled->addresses, sampled->count * sizeof *sorted);
    struct sample_place *places = arena_array(arena, sampled->count, sizeof *places);
    struct sample_function *functions = arena_array(arena, MOST_FUNCTIONS, sizeof *functions);
    qsort(sorted, sampled->count, sizeof *sorted, by_address);
    for (size_t i = 0, end = 0; i < sampled->count; i = end) {
        while (end < sampled->count && sorted[end] == sorted[i])
            end++;
        const int64_t hits = (int64_t)(end - i);
        if (sorted[i] >= s->image_at && sorted[i] < image_end(s)) {
            places[out->place_count++] = (struct sample_place){sorted[i] - s->image_at, hits};
            out->inside += hits;
            continue;
        }
        const char *name = plain_name(name_at(&symbols, sorted[i]), arena);
        if (!is_runners(&symbols, sorted[i], name))
            add_call(out, functions, name[0] ? name : "a function", hits);
    }
    if (out->function_count)
        qsort(functions, out->function_count, sizeof *functions, by_hits);
    out->places = places;
    out->functions = functions;
}

void cpu_session_samples(const struct session *session, struct arena *arena,
                         struct session_samples *out)
{
    const struct cpu_session *s = (const struct cpu_session *)session;
    struct session_samples samples = {.problem = ""};
    if (!s->sampled)
        BUG("samples of a child that is not looked at");
    samples.problem = arena_strdup(arena, s->sampled->problem);
    samples.lost = s->sampled->lost;
    if (s->sampled->count > 0)
        sort_out(s, arena, &samples);
    *out = samples;
}
