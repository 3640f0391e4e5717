/*
 * scan.c: which lines of a disassembly and which bytes of an object are refused. Objects are made
 * by hand: a header, one executable section, names.
 */
#include "base/arena.h"
#include "target/cpu/cpu.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const char *scan_line(const char *line)
{
    static struct arena arena;
    arena_free(&arena);
    return scan_instructions(line, &arena);
}

static void scan_instructions__system_calls_and_clocks__refused(void **state)
{
    static const char *const lines[] = {
        "   0:\tsyscall\n",
        "   0:\tsysretq\n",
        "   0:\tsysretl\n",
        "   0:\tsysexitq\n",
        "   0:\tint    $0x80\n",
        "   0:\trdtsc\n",
        "   0:\tnop\n   1:\trdtscp\n",
        "   0:\trepz data16 rex.W rex.W cs repz repz syscall\n",
        "   0:\twrfsbase %rax\n",
        "   0:\tldmxcsr (%rsp)\n",
        "   0:\tclflush (%rdi)\n",
        "   0:\tmrs\tx0, cntvct_el0\n",
        "   0:\tsvc\t#0x0\n",
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (!scan_line(lines[i]))
            fail_msg("not refused: %s", lines[i]);
    }
}

static void scan_instructions__ordinary_code__fine(void **state)
{
    static const char text[] = "0000000000000000 <rdtsc>:\n"
                               "   0:\tvmovups 0x31(%rdi),%ymm0\n"
                               "   5:\tcall   0 <syscall>\n"
                               "   a:\tfldcw  -0x4(%rsp)\n"
                               "   d:\tstmxcsr (%rsp)\n"
                               "  11:\tjmp    0 <int>\n";
    (void)state;
    assert_null(scan_line(text));
}

static void scan_finds_indirect_jump__by_form(void **state)
{
    (void)state;
    assert_true(scan_finds_indirect_jump("   0:\tret\n   1:\tjmp    *%rax\n"));
    assert_true(scan_finds_indirect_jump("   1:\tnotrack jmp *0x0(,%rax,8)\n"));
    assert_true(scan_finds_indirect_jump("   1:\tcallq\t*8(%rip)\n"));
    assert_false(scan_finds_indirect_jump("   1:\tcall   0 <f>\n   2:\timul   %rax,%rax\n"));
    assert_false(scan_finds_indirect_jump(""));
}

static const char *scan_text(const char *text)
{
    static struct arena arena;
    arena_free(&arena);
    return scan_jumps(text, &arena);
}

#define GNU "\nDisassembly of section .text:\n\n0000000000000000 <f>:\n"

static void scan_jumps__into_an_instruction__refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        GNU "   0:\tjmp    4 <f+0x4>\n   2:\tmovabs $0x909090909090310f,%rbx\n   c:\tret\n",
        GNU "   0:\tjne,pn 4 <f+0x4>\n   3:\tmov $0x310f,%eax\n   8:\tret\n",
        GNU "   0:\tmov $0x310f,%eax\n   5:\tbnd call 1 <f+0x1>\n",
        GNU "   0:\tmov $0x310f,%eax\n   5:\tloop   2 <f+0x2>\n",
        /* addresses of another section are none of this one */
        GNU "   0:\tmov $0x310f,%eax\n   5:\tjmp   2 <f+0x2>\n"
            "\nDisassembly of section .text.cold:\n\n0000000000000000 <g>:\n"
            "   0:\tnop\n   1:\tnop\n   2:\tnop\n",
        /* the last instruction is one too, and a jump itself */
        GNU "   0:\tjmp    3 <f+0x3>\n   2:\tmovabs $0x9090909090c3050f,%rbx\n",
        GNU "   0:\tnop\n   1:\tjmp    2 <f+0x2>\n",
        /* LLVM's */
        "Disassembly of section .text:\n\n0000000000000000 <f>:\n       0:      \tjmp\t0x4 "
        "<f+0x4>\n"
        "       2:      \tmovabsq\t$-1, %rbx\n       c:      \tretq\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!scan_text(texts[i]))
            fail_msg("not refused: %s", texts[i]);
    }
}

static void scan_jumps__ordinary_code__fine(void **state)
{
    (void)state;
    assert_null(scan_text(GNU "   0:\ttest   %rsi,%rsi\n   3:\tjle    8 <f+0x8>\n"
                              "   5:\tjmp    0 <f>\n   8:\tcall   d <f+0xd>\n"));
    assert_null(scan_text(GNU "   0:\tret\n   1:\tjmp    6 <f+0x6>\n"));
    assert_null(scan_text(GNU "   0:\tjmp    *%rax\n   2:\tcall   *0x8(%rip)\n"));
    assert_null(scan_text(GNU "   0:\tjmp\n   1:\tvmovups 0x31(%rdi),%ymm0\n"));
    assert_null(scan_text(""));
}

struct object {
    Elf64_Ehdr header;
    Elf64_Shdr sections[3];
    char names[16];
    uint8_t code[32];
};

static const char *scan_code(unsigned machine, const uint8_t *code, size_t bytes, bool is_reachable)
{
    static struct arena arena;
    static struct object object;
    arena_free(&arena);
    object = (struct object){
        .header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64},
                   .e_type = ET_REL,
                   .e_machine = (Elf64_Half)machine,
                   .e_shoff = offsetof(struct object, sections),
                   .e_shentsize = sizeof(Elf64_Shdr),
                   .e_shnum = 3,
                   .e_shstrndx = 1},
        .sections = {{0},
                     {.sh_type = SHT_STRTAB,
                      .sh_offset = offsetof(struct object, names),
                      .sh_size = sizeof object.names},
                     {.sh_name = 1,
                      .sh_type = SHT_PROGBITS,
                      .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                      .sh_offset = offsetof(struct object, code),
                      .sh_size = bytes}},
        .names = "\0.text",
    };
    memcpy(object.code, code, bytes);
    return scan_bytes(&object, sizeof object, is_reachable, &arena);
}
#define SCAN(is_reachable, ...)                                                                    \
    scan_code(EM_X86_64, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}),   \
              is_reachable)

static void scan_bytes__inside_of_another_instruction__refused(void **state)
{
    (void)state;
    /* mov $..., %eax with the bytes in the constant */
    assert_non_null(SCAN(true, 0xb8, 0x0f, 0x05, 0xc3, 0x90, 0xc3));
    assert_non_null(SCAN(true, 0xb8, 0x90, 0x0f, 0x34, 0xc3, 0xc3));
    assert_non_null(SCAN(true, 0xb8, 0x90, 0xcd, 0x80, 0xc3, 0xc3));
    assert_non_null(SCAN(true, 0xb8, 0x0f, 0x31, 0xc3, 0x90, 0xc3));
    assert_non_null(SCAN(true, 0xb8, 0x0f, 0x33, 0xc3, 0x90, 0xc3));
    /* the last two bytes of the section */
    assert_non_null(SCAN(true, 0x90, 0x90, 0x0f, 0x05));
}

static void scan_bytes__nothing_jumps_there__only_the_rare_are_refused(void **state)
{
    (void)state;
    assert_null(SCAN(false, 0xb8, 0x0f, 0x05, 0xc3, 0x90, 0xc3));
    assert_non_null(SCAN(false, 0xb8, 0x0f, 0x01, 0xf9, 0x90, 0xc3));             /* rdtscp */
    assert_non_null(SCAN(false, 0xb8, 0x0f, 0x01, 0xef, 0x90, 0xc3));             /* wrpkru */
    assert_non_null(SCAN(false, 0x48, 0xb8, 0xf3, 0x48, 0x0f, 0xae, 0xd0, 0xc3)); /* wrfsbase */
    assert_non_null(SCAN(false, 0xb8, 0xf3, 0x0f, 0xae, 0xda, 0xc3));             /* wrgsbase */
}

static void scan_bytes__ordinary_code__fine(void **state)
{
    (void)state;
    assert_null(SCAN(true, 0xc5, 0xfc, 0x10, 0x07, 0x0f, 0xae, 0xe8, 0xc3)); /* lfence */
    assert_null(SCAN(true, 0x0f, 0x28, 0x05, 0, 0, 0, 0, 0xc3));             /* movaps */
}

static void scan_bytes__aarch64__whole_words(void **state)
{
    static const uint8_t svc[] = {0x01, 0x00, 0x00, 0xd4}, counter[] = {0x40, 0xe0, 0x3b, 0xd5},
                         ret[] = {0xc0, 0x03, 0x5f, 0xd6};
    (void)state;
    assert_non_null(scan_code(EM_AARCH64, svc, sizeof svc, false));
    assert_non_null(scan_code(EM_AARCH64, counter, sizeof counter, false));
    assert_null(scan_code(EM_AARCH64, ret, sizeof ret, true));
}

static void scan_bytes__garbage__refused(void **state)
{
    static struct arena arena;
    (void)state;
    assert_non_null(scan_bytes("not an object at all, whatever follows", 32, true, &arena));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scan_instructions__system_calls_and_clocks__refused),
        cmocka_unit_test(scan_instructions__ordinary_code__fine),
        cmocka_unit_test(scan_finds_indirect_jump__by_form),
        cmocka_unit_test(scan_jumps__into_an_instruction__refused),
        cmocka_unit_test(scan_jumps__ordinary_code__fine),
        cmocka_unit_test(scan_bytes__inside_of_another_instruction__refused),
        cmocka_unit_test(scan_bytes__nothing_jumps_there__only_the_rare_are_refused),
        cmocka_unit_test(scan_bytes__ordinary_code__fine),
        cmocka_unit_test(scan_bytes__aarch64__whole_words),
        cmocka_unit_test(scan_bytes__garbage__refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
