#include "target/cpu/cpu.h"
#include "target/cpu/elf_file.h"

#include "base/buf.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The id of the machine code: a hash of a canonical text of the object, in which everything stands
 * that decides what the code does, and nothing that a person chose.
 *
 *   - Each loaded section in order of name: name, kind, flags, alignment, bytes. Left out are
 *     unwind tables, notes, and whatever is not loaded (debug information, comments, paths).
 *   - Relocated fields are zero, and each relocation says its place, kind, target and addend. Of
 *     each kind only as many bytes are zeroed as the linker overwrites: a byte behind a short field
 *     is code.
 *   - A target inside the object is its place, never its name, so renamed functions and tables are
 *     the same code, and exchanged ones are not. An outside target is its name; an absolute one its
 *     value.
 *   - No-operations between functions are padding: their number counts, because branches that the
 *     assembler resolved cross it, but not how they are encoded. After the last function even the
 *     number does not.
 *   - Where the entry point lies.
 *
 * Equal ids mean equal behaviour. Different ones may still be the same code: functions in another
 * order, another name for a section.
 */
struct collector {
    const struct elf *elf;
    size_t *order; /* sections that count, by name, then by index */
    size_t order_count;
    struct buf text;
};

static bool counts_as_code(const struct elf *elf, const Elf64_Shdr *section)
{
    const char *name = elf_section_name(elf, section);
    return (section->sh_flags & SHF_ALLOC) && !str_starts_with(name, ".eh_frame") &&
           !str_starts_with(name, ".note") && section->sh_type != SHT_NOTE;
}

/* By insertion: objects have few sections. */
static void order_sections(struct collector *c)
{
    c->order = calloc(c->elf->section_count + 1, sizeof *c->order);
    if (!c->order)
        BUG("out of memory");
    for (size_t i = 0; i < c->elf->section_count; i++) {
        if (!counts_as_code(c->elf, &c->elf->sections[i]))
            continue;
        const char *name = elf_section_name(c->elf, &c->elf->sections[i]);
        size_t at = c->order_count++;
        for (; at > 0 &&
               strcmp(elf_section_name(c->elf, &c->elf->sections[c->order[at - 1]]), name) > 0;
             at--)
            c->order[at] = c->order[at - 1];
        c->order[at] = i;
    }
}

/* Bytes that the linker overwrites. Of a kind that is not known none: they then stay in the text,
 * which can only make ids differ. */
static size_t relocated_bytes(uint64_t kind)
{
    switch (kind) {
    case R_X86_64_64:
    case R_X86_64_PC64:
    case R_X86_64_GOTOFF64:
        return 8;
    case R_X86_64_PC32:
    case R_X86_64_PLT32:
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX:
    case R_X86_64_32:
    case R_X86_64_32S:
        return 4;
    case R_X86_64_16:
    case R_X86_64_PC16:
        return 2;
    case R_X86_64_8:
    case R_X86_64_PC8:
        return 1;
    default:
        return 0;
    }
}

/* Symbols of a table, checked by object_check before. */
static const Elf64_Sym *symbols_of(const struct elf *elf, const Elf64_Shdr *table, size_t *count)
{
    *count = 0;
    if (table->sh_type != SHT_SYMTAB || table->sh_link >= elf->section_count ||
        table->sh_offset % 8 != 0)
        return NULL;
    *count = table->sh_size / sizeof(Elf64_Sym);
    return (const Elf64_Sym *)(const void *)(elf->data + table->sh_offset);
}

static const char *symbol_name(const struct elf *elf, const Elf64_Shdr *table,
                               const Elf64_Sym *symbol)
{
    return (const char *)elf->data + elf->sections[table->sh_link].sh_offset + symbol->st_name;
}

static void put_symbol(struct collector *c, const Elf64_Shdr *table, const Elf64_Sym *symbol)
{
    const char *name = symbol_name(c->elf, table, symbol);
    size_t place = 0;
    while (place < c->order_count && c->order[place] != symbol->st_shndx)
        place++;
    if (symbol->st_shndx == SHN_ABS)
        (void)buf_printf(&c->text, "absolute %llu", (unsigned long long)symbol->st_value);
    else if (place < c->order_count)
        (void)buf_printf(&c->text, "section %zu + %llu", place,
                         (unsigned long long)symbol->st_value);
    else
        (void)buf_printf(&c->text, "named %s %u %u %llu %llu", name,
                         (unsigned)ELF64_ST_BIND(symbol->st_info), (unsigned)symbol->st_shndx,
                         (unsigned long long)symbol->st_value, (unsigned long long)symbol->st_size);
}

static void put_relocation(struct collector *c, const Elf64_Shdr *table, const Elf64_Rela *r)
{
    size_t count;
    const Elf64_Sym *symbols = symbols_of(c->elf, table, &count);
    const uint64_t index = ELF64_R_SYM(r->r_info);
    (void)buf_printf(&c->text, "at %llu %llu %lld ", (unsigned long long)r->r_offset,
                     (unsigned long long)ELF64_R_TYPE(r->r_info), (long long)r->r_addend);
    if (index < count)
        put_symbol(c, table, &symbols[index]);
    (void)buf_append_char(&c->text, '\n');
}

static void put_relocations(struct collector *c, size_t target, uint8_t *bytes, size_t length)
{
    const struct elf *elf = c->elf;
    for (size_t i = 0; i < elf->section_count; i++) {
        const Elf64_Shdr *section = &elf->sections[i];
        if (section->sh_type != SHT_RELA || section->sh_info != target ||
            section->sh_link >= elf->section_count || section->sh_offset % 8 != 0 ||
            elf->sections[section->sh_link].sh_type != SHT_SYMTAB)
            continue; /* object_check has followed every symbol table */
        const Elf64_Rela *r = (const Elf64_Rela *)(const void *)(elf->data + section->sh_offset);
        for (size_t n = 0; n < section->sh_size / sizeof *r; n++) {
            const size_t width = relocated_bytes(ELF64_R_TYPE(r[n].r_info));
            if (r[n].r_offset <= length && width <= length - r[n].r_offset)
                memset(bytes + r[n].r_offset, 0, width);
            put_relocation(c, &elf->sections[section->sh_link], &r[n]);
        }
    }
}

/* Length of the no-operation at `at`, 0 where there is none: 90, or 0f 1f with an address, each
 * behind prefixes 66 and 2e. */
static size_t nop_length(const uint8_t *at, size_t length)
{
    static const struct {
        uint8_t address;
        size_t bytes;
    } forms[] = {{0x00, 3}, {0x40, 4}, {0x44, 5}, {0x80, 7}, {0x84, 8}};
    size_t n = 0;
    while (n < length && n < 14 && (at[n] == 0x66 || at[n] == 0x2e))
        n++;
    if (n < length && at[n] == 0x90)
        return n + 1;
    if (length - n < 3 || at[n] != 0x0f || at[n + 1] != 0x1f)
        return 0;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (at[n + 2] == forms[i].address && length - n >= forms[i].bytes)
            return n + forms[i].bytes;
    return 0;
}

static bool is_padding(const uint8_t *at, size_t length)
{
    for (size_t done = 0; done < length;) {
        const size_t step = nop_length(at + done, length - done);
        if (step == 0)
            return false;
        done += step;
    }
    return true;
}

/* The end of the function that covers `at`, or `at` where there is none; and the next beginning. */
static size_t function_end(const struct elf *elf, size_t section, size_t at, size_t length,
                           size_t *next)
{
    size_t end = at;
    *next = length;
    for (size_t i = 0; i < elf->section_count; i++) {
        size_t count;
        const Elf64_Sym *symbols = symbols_of(elf, &elf->sections[i], &count);
        for (size_t n = 0; n < count; n++) {
            const Elf64_Sym *s = &symbols[n];
            if (s->st_shndx != section || ELF64_ST_TYPE(s->st_info) == STT_SECTION ||
                s->st_value > length || s->st_size > length - s->st_value)
                continue;
            if (s->st_value <= at && s->st_value + s->st_size > end)
                end = s->st_value + s->st_size;
            if (s->st_value > at && s->st_value < *next)
                *next = s->st_value;
        }
    }
    return end;
}

/* Makes all padding between functions the same; returns the length without what is at the end. */
static size_t normalise_padding(const struct elf *elf, size_t section, uint8_t *bytes,
                                size_t length)
{
    enum { MOST_SYMBOLS = 4096 }; /* the search below is quadratic; no honest object has more */
    size_t at = 0, next, symbols = 0;
    for (size_t i = 0, count; i < elf->section_count; i++) {
        (void)symbols_of(elf, &elf->sections[i], &count);
        symbols += count;
    }
    while (at < length && symbols <= MOST_SYMBOLS) {
        const size_t end = function_end(elf, section, at, length, &next);
        if (end > at) {
            at = end;
            continue;
        }
        if (at > 0 && is_padding(bytes + at, next - at)) {
            if (next == length)
                return at;
            memset(bytes + at, 0x90, next - at);
        }
        at = next;
    }
    return length;
}

static void put_section(struct collector *c, size_t index)
{
    const Elf64_Shdr *section = &c->elf->sections[index];
    (void)buf_printf(&c->text, "%s %u %llu %llu ", elf_section_name(c->elf, section),
                     section->sh_type, (unsigned long long)section->sh_flags,
                     (unsigned long long)section->sh_addralign);
    if (section->sh_type == SHT_NOBITS || section->sh_size == 0) {
        (void)buf_printf(&c->text, "%llu\n", (unsigned long long)section->sh_size);
        return;
    }
    uint8_t *bytes = malloc(section->sh_size);
    if (!bytes)
        BUG("out of memory");
    memcpy(bytes, c->elf->data + section->sh_offset, section->sh_size);
    size_t length = section->sh_size;
    if (section->sh_flags & SHF_EXECINSTR)
        length = normalise_padding(c->elf, index, bytes, length);
    (void)buf_printf(&c->text, "%zu\n", length);
    put_relocations(c, index, bytes, section->sh_size);
    (void)buf_append_str(&c->text, "bytes\n");
    (void)buf_append(&c->text, bytes, length);
    free(bytes);
}

static void put_entry(struct collector *c, const char *entry)
{
    for (size_t i = 0; i < c->elf->section_count; i++) {
        size_t count;
        const Elf64_Shdr *table = &c->elf->sections[i];
        const Elf64_Sym *symbols = symbols_of(c->elf, table, &count);
        for (size_t n = 0; n < count; n++) {
            if (symbols[n].st_shndx == SHN_UNDEF ||
                ELF64_ST_BIND(symbols[n].st_info) == STB_LOCAL ||
                !str_equal(symbol_name(c->elf, table, &symbols[n]), entry))
                continue;
            (void)buf_append_str(&c->text, "entry ");
            put_symbol(c, table, &symbols[n]);
            (void)buf_append_char(&c->text, '\n');
        }
    }
}

struct hash_id code_id(const void *object, size_t bytes, const char *entry)
{
    struct elf elf;
    if (!elf_open(object, bytes, ET_REL, &elf))
        BUG("an id for what is no object");
    struct collector c = {.elf = &elf};
    order_sections(&c);
    put_entry(&c, entry);
    for (size_t i = 0; i < c.order_count; i++)
        put_section(&c, c.order[i]);
    const struct hash_id id = hash_content(buf_text(&c.text), c.text.length);
    buf_free(&c.text);
    free(c.order);
    return id;
}
