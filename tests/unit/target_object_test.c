/* Objects that no compiler makes: what the rules refuse before anything follows them. */
#include "base/arena.h"
#include "target/cpu/cpu.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* A relocatable object of three sections: null, names (for sections and symbols), symbols. */
struct tiny {
    Elf64_Ehdr header;
    Elf64_Shdr sections[3];
    char names[8];
    Elf64_Sym symbols[2];
};

static struct tiny tiny_object(void)
{
    struct tiny t = {.header = {.e_type = ET_REL,
                                .e_shoff = offsetof(struct tiny, sections),
                                .e_shentsize = sizeof(Elf64_Shdr),
                                .e_shnum = 3,
                                .e_shstrndx = 1}};
    memcpy(t.header.e_ident, ELFMAG, SELFMAG);
    t.header.e_ident[EI_CLASS] = ELFCLASS64;
    t.sections[1] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
                                 .sh_offset = offsetof(struct tiny, names),
                                 .sh_size = sizeof t.names};
    t.sections[2] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
                                 .sh_link = 1,
                                 .sh_offset = offsetof(struct tiny, symbols),
                                 .sh_size = sizeof t.symbols};
    memcpy(t.names, "\0k", 3);
    t.symbols[1] = (Elf64_Sym){
        .st_name = 1, .st_shndx = SHN_ABS, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE)};
    return t;
}

static bool is_accepted(const struct tiny *t)
{
    CLEANUP(arena_free) struct arena arena = {0};
    static const char *const none[] = {"memcpy"};
    const struct object_rules rules = {.symbols = none, .symbol_count = 1};
    const char *why = NULL;
    const bool accepted = object_check(t, sizeof *t, &rules, &arena, &why);
    assert_true(accepted || why);
    return accepted;
}

static void object_check__tiny_object__is_accepted_and_has_an_id(void **state)
{
    const struct tiny t = tiny_object();
    (void)state;
    assert_true(is_accepted(&t));
    assert_int_equal(strlen(code_id(&t, sizeof t, "k").text), HASH_ID_CHARS);
}

/* Found by fuzzing: symbol 0 is nothing to a linker, but its name was followed. */
static void object_check__name_of_symbol_0_outside_its_table__is_refused(void **state)
{
    struct tiny t = tiny_object();
    (void)state;
    t.symbols[0] = t.symbols[1];
    t.symbols[0].st_name = 0x7fffffff;
    assert_false(is_accepted(&t));
    t.symbols[0].st_name = 0;
    t.symbols[1].st_name = sizeof t.names;
    assert_false(is_accepted(&t));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(object_check__tiny_object__is_accepted_and_has_an_id),
        cmocka_unit_test(object_check__name_of_symbol_0_outside_its_table__is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
