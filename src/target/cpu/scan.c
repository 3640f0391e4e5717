#include "target/cpu/cpu.h"
#include "target/cpu/elf_file.h"

#include "base/str.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * Instructions that no kernel needs: ways into the system, clocks, transactions, ways to change the
 * floating-point environment, protection keys or the thread's base, and ways to slow others. Two
 * readers, since code need not be entered where a disassembler begins:
 *
 * - scan_instructions reads the lines of a linear disassembly;
 * - scan_bytes looks for the encodings at every offset of executable sections, so also inside of
 *   other instructions and in constants. Where two bytes make the instruction they stand there by
 *   chance in a few of a hundred honest objects: these count only where the code has an indirect
 *   jump or call. Without one nothing leads into the middle of an instruction but a direct jump,
 *   which scan_jumps refuses, and a return to an address that was written over. What slips through
 *   meets seccomp, the trapped clock and the comparison of the environment in the child.
 */
static const char *const refused[] = {
    /* ways into the system */
    "syscall",
    "sysenter",
    "sysexit",
    "sysexitl",
    "sysexitq",
    "sysret",
    "sysretl",
    "sysretq",
    "int",
    "int1",
    "icebp",
    "iret",
    "iretl",
    "iretq",
    "iretw",
    "into",
    "bound",
    "rsm",
    "hlt",
    "cli",
    "sti",
    "in",
    "out",
    "insb",
    "insl",
    "insw",
    "outsb",
    "outsl",
    "outsw",
    "vmcall",
    "vmmcall",
    "vmfunc",
    "enclu",
    "encls",
    "getsec",
    "ljmp",
    "lcall",
    "lret",
    "ljmpq",
    "lcallq",
    "lretq",
    "lretl",
    /* clocks, and what waits by one or tells where the code runs */
    "rdtsc",
    "rdtscp",
    "rdpmc",
    "rdpru",
    "rdpid",
    "umwait",
    "tpause",
    "umonitor",
    "monitorx",
    "mwaitx",
    "monitor",
    "mwait",
    "cpuid",
    "rdrand",
    "rdseed",
    /* transactions */
    "xbegin",
    "xabort",
    "xend",
    "xtest",
    /* the thread's base, protection keys, the floating-point environment */
    "wrfsbase",
    "wrgsbase",
    "rdfsbase",
    "rdgsbase",
    "swapgs",
    "wrpkru",
    "rdpkru",
    "xsetbv",
    "xgetbv",
    "ldmxcsr",
    "vldmxcsr",
    "fldenv",

    "frstor",
    "fnsave",
    "fxsave",
    "fxsave64",
    "fxrstor",
    "fxrstor64",
    "xsave",
    "xsave64",
    "xsavec",
    "xsavec64",
    "xsaveopt",
    "xsaveopt64",
    "xsaves",
    "xsaves64",
    "xrstor",
    "xrstor64",
    "xrstors",
    "xrstors64",
    /* other people's caches */
    "clflush",
    "clflushopt",
    "clwb",
    "cldemote",
    "wbinvd",
    "wbnoinvd",
    "invd",
    /* AArch64 */
    "svc",
    "hvc",
    "smc",
    "brk",
    "hlt",
    "eret",
    "cntvct_el0",
    "cntpct_el0",
    "cntvctss_el0",
    "cntpctss_el0",
    "pmccntr_el0",
    "tpidr_el0",
    "fpcr",
    "rndr",
    "rndrrs",
    "wfet",
    "wfit",
};

static bool is_refused(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (strlen(refused[i]) == length && memcmp(refused[i], word, length) == 0)
            return true;
    }
    return false;
}

/* A line is "  12:<tab>mnemonic operands"; any number of prefixes ("rep", "data16") may stand
 * before the mnemonic, and the names of AArch64's registers behind it: every word is looked at. */
static const char *scan_line(const char *line, size_t length, struct arena *arena)
{
    static const char between[] = "\t ,\n";
    const char *end = line + length;
    for (const char *at = memchr(line, '\t', length); at && at < end;) {
        at += strspn(at, between);
        const size_t word = at < end ? strcspn(at, between) : 0;
        if (is_refused(at, word))
            return arena_printf(arena, "it has the instruction '%.*s'", (int)word, at);
        at += word;
    }
    return NULL;
}

const char *scan_instructions(const char *disassembly, struct arena *arena)
{
    for (const char *line = disassembly; *line;) {
        const size_t length = strcspn(line, "\n");
        const char *found = scan_line(line, length, arena);
        if (found)
            return found;
        line += length + (line[length] == '\n');
    }
    return NULL;
}

bool scan_finds_indirect_jump(const char *disassembly)
{
    for (const char *at = strchr(disassembly, '*'); at; at = strchr(at + 1, '*')) {
        const char *line = at;
        while (line > disassembly && line[-1] != '\n')
            line--;
        const char *tab = memchr(line, '\t', (size_t)(at - line));
        for (const char *word = tab; word && word < at; word++) {
            if (str_starts_with(word, "jmp") || str_starts_with(word, "call"))
                return true;
        }
    }
    return false;
}

/* "  1f:<tab>", of GNU's objdump or LLVM's: the address of an instruction. Other lines have none.
 */
static bool read_address(const char *line, size_t length, uint64_t *out)
{
    char *end = NULL;
    const char *digits = line + strspn(line, " ");
    if (digits >= line + length || !isxdigit((unsigned char)*digits))
        return false;
    *out = strtoull(digits, &end, 16);
    return *end == ':' && end[1 + strspn(end + 1, " ")] == '\t';
}

/* Where a direct jump, call or loop leads: the number that is its operand. */
static bool read_jump(const char *line, size_t length, uint64_t *out)
{
    const char *tab = memchr(line, '\t', length), *end = line + length;
    for (const char *at = tab ? tab + 1 : end; at < end;) {
        const size_t word = strcspn(at, " \t\n");
        const char *operand = at + word + strspn(at + word, " \t");
        const bool jumps = *at == 'j' || str_starts_with(at, "call") || str_starts_with(at, "loop");
        if (jumps && operand < end && isxdigit((unsigned char)*operand)) {
            char *rest = NULL;
            *out = strtoull(operand, &rest, 16);
            return *rest == ' ' || *rest == '\n' || *rest == '\0';
        }
        at = operand;
    }
    return false;
}

static int by_address(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Behind the first byte of the last instruction only that instruction's end can be meant, by a jump
 * that the linker fills in: those have four bytes for it. */
static bool leads_into_one(uint64_t from, uint64_t to, const uint64_t *addresses, size_t count)
{
    enum { LEAST_BYTES = 5 };
    const uint64_t last = addresses[count - 1];
    if (to > last)
        return from != last || to - from < LEAST_BYTES;
    return !bsearch(&to, addresses, count, sizeof to, by_address);
}

/* Lines of one section, whose addresses ascend. */
static const char *scan_section_jumps(const char *text, const char *end, uint64_t *addresses,
                                      struct arena *arena)
{
    size_t count = 0;
    uint64_t to = 0;
    for (const char *line = text; line < end; line += strcspn(line, "\n") + 1)
        count += read_address(line, strcspn(line, "\n"), &addresses[count]);
    for (const char *line = text; line < end; line += strcspn(line, "\n") + 1) {
        const size_t length = strcspn(line, "\n");
        uint64_t from = 0;
        if (read_address(line, length, &from) && read_jump(line, length, &to) &&
            leads_into_one(from, to, addresses, count))
            return arena_printf(
                arena, "a jump at %" PRIx64 " leads into an instruction, to %" PRIx64, from, to);
    }
    return NULL;
}

const char *scan_jumps(const char *disassembly, struct arena *arena)
{
    static const char heading[] = "Disassembly of section";
    const char *found = NULL;
    size_t lines = 1;
    for (const char *c = disassembly; *c; c++)
        lines += *c == '\n';
    uint64_t *addresses = arena_array(arena, lines, sizeof *addresses);
    for (const char *at = disassembly; *at && !found;) {
        const char *next = strstr(at + 1, heading);
        const char *end = next ? next : at + strlen(at);
        found = scan_section_jumps(at, end, addresses, arena);
        at = end;
    }
    return found;
}

/* An encoding: bytes that must be there, under masks. */
struct encoding {
    const char *name;
    uint8_t length;
    uint8_t bytes[4], masks[4]; /* a mask of 0 stands for 0xff */
};

/* Three bytes and more; a REX prefix between F3 and 0F changes nothing of what matters. */
static const struct encoding rare[] = {
    {"rdtscp", 3, {0x0f, 0x01, 0xf9}, {0}},
    {"rdpru", 3, {0x0f, 0x01, 0xfd}, {0}},
    {"wrpkru", 3, {0x0f, 0x01, 0xef}, {0}},
    {"xsetbv", 3, {0x0f, 0x01, 0xd1}, {0}},
    {"vmmcall", 3, {0x0f, 0x01, 0xd9}, {0}},
    {"vmcall", 3, {0x0f, 0x01, 0xc1}, {0}},
    {"rdfsbase to wrgsbase", 4, {0xf3, 0x0f, 0xae, 0xc0}, {0, 0, 0, 0xe0}},
    {"umonitor", 4, {0xf3, 0x0f, 0xae, 0xf0}, {0, 0, 0, 0xf8}},
    {"tpause", 4, {0x66, 0x0f, 0xae, 0xf0}, {0, 0, 0, 0xf8}},
    {"umwait", 4, {0xf2, 0x0f, 0xae, 0xf0}, {0, 0, 0, 0xf8}},
    {"rdpid", 4, {0xf3, 0x0f, 0xc7, 0xf8}, {0, 0, 0, 0xf8}},
};
static const struct encoding rare_with_rex[] = {
    {"rdfsbase to wrgsbase", 4, {0x40, 0x0f, 0xae, 0xc0}, {0xf0, 0, 0, 0xe0}},
};
static const struct encoding common[] = {
    {"syscall", 2, {0x0f, 0x05}, {0}},  {"sysenter", 2, {0x0f, 0x34}, {0}},
    {"int 0x80", 2, {0xcd, 0x80}, {0}}, {"rdtsc", 2, {0x0f, 0x31}, {0}},
    {"rdpmc", 2, {0x0f, 0x33}, {0}},    {"xbegin", 2, {0xc7, 0xf8}, {0}},
};

static bool matches(const struct encoding *e, const uint8_t *at, size_t left)
{
    if (left < e->length)
        return false;
    for (size_t i = 0; i < e->length; i++) {
        const uint8_t mask = e->masks[i] ? e->masks[i] : 0xff;
        if ((at[i] & mask) != e->bytes[i])
            return false;
    }
    return true;
}

static const char *find(const struct encoding *list, size_t count, const uint8_t *at, size_t left)
{
    for (size_t i = 0; i < count; i++) {
        if (matches(&list[i], at, left))
            return list[i].name;
    }
    return NULL;
}

/* A REX prefix that stands behind F3 belongs to that instruction; alone it would be a fence. */
static const char *find_x86(const uint8_t *code, size_t offset, size_t bytes, bool is_reachable)
{
    const uint8_t *at = code + offset;
    const size_t left = bytes - offset;
    const char *found = find(rare, sizeof rare / sizeof *rare, at, left);
    if (!found && offset > 0 && code[offset - 1] == 0xf3)
        found = find(rare_with_rex, sizeof rare_with_rex / sizeof *rare_with_rex, at, left);
    if (!found && is_reachable)
        found = find(common, sizeof common / sizeof *common, at, left);
    return found;
}

/* AArch64: whole words. svc, and reads of the counters (op0 3, op1 3, CRn 14 or 9). */
static const char *find_arm(const uint8_t *code, size_t offset, size_t bytes)
{
    uint32_t word = 0;
    if (offset % sizeof word != 0 || bytes - offset < sizeof word)
        return NULL;
    memcpy(&word, code + offset, sizeof word);
    if ((word & 0xffe0001fU) == 0xd4000001U)
        return "svc";
    if ((word & 0xffffff00U) == 0xd53be000U || (word & 0xffffffe0U) == 0xd53b9d00U)
        return "mrs of a counter";
    return NULL;
}

const char *scan_bytes(const void *object, size_t bytes, bool is_reachable, struct arena *arena)
{
    struct elf elf;
    if (!elf_open(object, bytes, ET_REL, &elf))
        return "the compiler's output is no object";
    for (size_t i = 0; i < elf.section_count; i++) {
        const Elf64_Shdr *section = &elf.sections[i];
        if (!(section->sh_flags & SHF_EXECINSTR) || section->sh_type == SHT_NOBITS)
            continue;
        if (!elf_within(&elf, section->sh_offset, section->sh_size))
            return "a section lies outside the object";
        const uint8_t *code = elf.data + section->sh_offset;
        for (size_t at = 0; at < section->sh_size; at++) {
            const char *found = elf.header->e_machine == EM_AARCH64
                                    ? find_arm(code, at, section->sh_size)
                                    : find_x86(code, at, section->sh_size, is_reachable);
            if (found)
                return arena_printf(arena, "the bytes of '%s' lie hidden at %zu in '%.60s'", found,
                                    at, elf_section_name(&elf, section));
        }
    }
    return NULL;
}
