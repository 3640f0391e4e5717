#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char harness_head[] =
    "#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
    "#include <tgmath.h>\ntypedef float real;\n"
    "typedef void call(void *, const void *, void *, void *, void *, const int32_t *, int64_t, "
    "int64_t);\n"
    "struct variant { int nest, is_real, has_infinity, is_in_place, must_differ; call *run; const "
    "char *steps; "
    "};\n";

static const char harness_main[] =
    "enum { EDGE = 64, ROOM = 40 * 40 + 2 * EDGE };\n"
    "static uint32_t drawn[5][ROOM], want[5][ROOM], got[5][ROOM];\n"
    "static int32_t at[40];\n"
    "static void draw(int is_real, int has_infinity, int64_t m)\n{\n"
    "    static uint32_t state = 12345;\n"
    "    for (int b = 0; b < 5; b++)\n"
    "        for (int i = 0; i < ROOM; i++) {\n"
    "            state = state * 1664525u + 1013904223u;\n"
    "            const float small = has_infinity && state % 13 == 0 ? INFINITY : (float)(state >> "
    "29);\n"
    "            if (is_real)\n                memcpy(&drawn[b][i], &small, 4);\n"
    "            else\n                drawn[b][i] = state >> 8;\n"
    "        }\n"
    "    for (int i = 0; i < 40; i++) {\n"
    "        state = state * 1664525u + 1013904223u;\n"
    "        at[i] = (int32_t)((state >> 8) % (uint32_t)m);\n    }\n}\n"
    "static void run(call *f, uint32_t (*to)[ROOM], int b, int64_t n, int64_t m)\n{\n"
    "    memcpy(to, drawn, sizeof drawn);\n"
    "    f(to[0] + EDGE, to[b] + EDGE, to[2] + EDGE, to[3] + EDGE, to[4] + EDGE, at, n, m);\n}\n"
    "int main(void)\n{\n"
    "    enum { COUNT = sizeof variants / sizeof *variants };\n"
    "    static const int64_t sizes[][2] = {{6, 6}, {7, 9}, {16, 12}, {13, 17}, {33, 40}, {40, "
    "37}};\n"
    "    static int differs[COUNT];\n"
    "    int wrong = 0;\n"
    "    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)\n"
    "        for (size_t v = 0; v < COUNT; v++) {\n"
    "            const int64_t n = sizes[s][0], m = sizes[s][1];\n"
    "            const int b = variants[v].is_in_place ? 0 : 1;\n"
    "            draw(variants[v].is_real, variants[v].has_infinity, m);\n"
    "            run(references[variants[v].nest], want, b, n, m);\n"
    "            run(variants[v].run, got, b, n, m);\n"
    "            if (memcmp(want, got, sizeof want) == 0)\n                continue;\n"
    "            differs[v] = 1;\n"
    "            if (variants[v].must_differ)\n                continue;\n"
    "            printf(\"nest %d, n = %d, m = %d: %s differs\\n\", variants[v].nest, (int)n, "
    "(int)m, variants[v].steps);\n"
    "            wrong++;\n"
    "        }\n"
    "    for (size_t v = 0; v < COUNT; v++)\n"
    "        if (variants[v].must_differ && !differs[v]) {\n"
    "            printf(\"nest %d: %s does no harm\\n\", variants[v].nest, variants[v].steps);\n"
    "            wrong++;\n"
    "        }\n"
    "    return wrong ? 1 : 0;\n}\n";

/* What vector code is written with stands in front of each function, and there are many in a file;
 * macros of the same text may stand there again. */
static const char *const helpers[] = {
    "f",
    "VREAL_LANES",
    "vreal",
    "vmask",
    "vreal_unaligned",
    "vreal_of",
    "vreal_sum",
    "vreal_select",
    "vreal_max",
    "vreal_min",
    "vreal_lane",
    "vreal_stream",
    "vreal_first_largest",
    "vreal_first_smallest",
    "vreal_abs",
    "vreal_largest",
    "vreal_smallest",
    "vreal_sqrt",
    "vreal_exp",
    "vreal_tanh",
    "vreal_1_plus_tanh",
    "vreal_transpose",
    "vreal_pin",
    "vdot",
    "vdot_signed",
    "vdot_at",
    "vdot_spread",
};

/* The text with the function's name in front of those helpers of dot that have sizes in theirs. */
static void add_text(struct program *p, const char *text, const char *name)
{
    for (const char *at = strstr(text, "dot"); at; at = strstr(text, "dot")) {
        (void)buf_printf(&p->functions, "%.*s", (int)(at - text), text);
        if ((at[3] == '2' || at[3] == '4') && at[4] == '_' && (at == text || at[-1] != '_'))
            (void)buf_printf(&p->functions, "%s_", name);
        (void)buf_append_str(&p->functions, "dot");
        text = at + 3;
    }
    (void)buf_printf(&p->functions, "%s\n", text);
}

static void add_function(struct program *p, const char *text, const char *name)
{
    for (size_t i = 0; i < sizeof helpers / sizeof *helpers; i++)
        (void)buf_printf(&p->functions, "#define %s %s%s%s\n", helpers[i], name, i > 0 ? "_" : "",
                         i > 0 ? helpers[i] : "");
    add_text(p, text, name);
    for (size_t i = 0; i < sizeof helpers / sizeof *helpers; i++)
        (void)buf_printf(&p->functions, "#undef %s\n", helpers[i]);
}

int program_add_reference(struct program *p, const char *text)
{
    char name[64];
    (void)snprintf(name, sizeof name, "reference_%zu", p->reference_count);
    add_function(p, text, name);
    (void)buf_printf(&p->references, "    (call *)%s,\n", name);
    return (int)p->reference_count++;
}

void program_add_variant(struct program *p, const char *text, const struct variant *variant)
{
    char name[64];
    (void)snprintf(name, sizeof name, "variant_%zu", p->variant_count);
    add_function(p, text, name);
    (void)buf_printf(&p->variants, "    {%d, %d, %d, %d, %d, (call *)%s, \"%s\"},\n",
                     variant->reference, variant->is_real, variant->has_infinity,
                     variant->is_in_place, variant->must_differ, name, variant->steps);
    p->variant_count++;
}

static bool write_program(const struct program *p, const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    (void)fprintf(file, "%s%s", harness_head, buf_text(&p->functions));
    (void)fprintf(file, "static call *const references[] = {\n%s};\n", buf_text(&p->references));
    (void)fprintf(file, "static const struct variant variants[] = {\n%s};\n%s",
                  buf_text(&p->variants), harness_main);
    return fclose(file) == 0;
}

bool program_run(const struct program *p, const char *compiler, const char *dir, const char *name)
{
    char command[1000];
    char path[300];
    (void)snprintf(path, sizeof path, "%s/%s.c", dir, name);
    if (!write_program(p, path)) {
        (void)printf("cannot write %s\n", path);
        return false;
    }
    (void)snprintf(command, sizeof command,
                   "%s -std=gnu17 -O1 -w -Wno-psabi -o %s/%s %s -lm && %s/%s", compiler, dir, name,
                   path, dir, name);
    (void)fflush(stdout);
    return system(command) == 0;
}

void program_free(struct program *p)
{
    buf_free(&p->functions);
    buf_free(&p->references);
    buf_free(&p->variants);
    *p = (struct program){0};
}
