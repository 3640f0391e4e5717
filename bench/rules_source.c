#include "rules_source.h"

#include "base/buf.h"
#include "base/str.h"

#include <ctype.h>
#include <string.h>

/*
 * What breaks a kernel. In the texts $a to $d are names that differ from source to source, # is a
 * number and @ an elementwise intrinsic on __m256. `outside` stands before the entry, `inside`
 * among its statements.
 */
static const struct {
    const char *key, *flags, *outside, *inside;
    bool needs_intrinsics;
} causes[] = {
    {"undeclared-name", "", "", "$a = x[0] * #.0f;\n    total[0] += $a;", false},
    {"undeclared-name FLT_MAX", "", "",
     "float $a = -FLT_MAX;\n    total[0] = $a > x[0] ? $a : x[0];", false},
    {"undeclared-function", "", "", "total[0] += $a(x[0]) + #.0f;", false},
    {"undeclared-function _mm256_tanh_ps", "", "",
     "__m256 $a = _mm256_tanh_ps(_mm256_set1_ps(x[0]));\n    _mm256_storeu_ps($b, $a);", true},
    {"unknown-type", "", "", "$a $b = x[0];\n    total[0] += $b;", false},
    {"unknown-type __m256", "", "static float $a(__m256 $b)\n{\n    return $b[0] * #.0f;\n}\n",
     "(void)n;", false},
    {"missing-semicolon", "", "", "float $a = x[0] * #.0f\n    total[0] += $a;", false},
    {"open-bracket", "", "", "if (n > #) {\n        total[0] += x[0];", false},
    {"extra-brace", "", "", "total[0] += #.0f;\n    }\n    total[0] *= 2.0f;", false},
    {"missing-parenthesis", "", "", "total[0] = (x[0] + #.0f * (x[1] - 1.0f);", false},
    {"argument-count _mm256_fmadd_ps", "", "",
     "__m256 $a = _mm256_fmadd_ps(@, _mm256_set1_ps(#.0f));\n    total[0] += $a[0];", true},
    {"argument-count", "",
     "static float $a(float $b, float $c, float $d)\n{\n    return $b + ($c - "
     "$b) * $d;\n}\n",
     "total[0] += $a(x[0], #.0f);", false},
    {"missing-isa avx512", "-O3 -march=x86-64-v3", "",
     "_mm512_storeu_ps(total, _mm512_set1_ps(x[0] * #.0f));", true},
    {"incompatible-types float from __m256", "", "", "float $a = @;\n    total[0] += $a;", true},
    {"write-to-const", "", "", "for (int64_t $a = 0; $a < n; $a++)\n        x[$a] = #.0f;", false},
    {"redefinition", "", "", "float $a = x[0];\n    total[0] += $a;\n    float $a = x[1] * #.0f;",
     false},
    {"initialized-vla", "", "", "float $a[n] = {0};\n    total[0] += $a[0] * #.0f;", false},
    {"forbidden-function getenv", "", "#include <stdlib.h>\n",
     "total[0] += getenv(\"$a\") ? #.0f : 0.0f;", false},
    {"invalid-operands float16 and float", "", "",
     "float16 $a = {#};\n    total[0] += (float)($a * 2.0f);", false},
    {"stray-character", "", "", "total[0] = x[0] \xe2\x88\x92 #.0f;", false},
    {"undeclared-label", "", "", "if (n == #)\n        goto $a;", false},
    {"", "", "", "(void)n;", false},
};

const char *cause_key(size_t cause)
{
    return causes[cause].key;
}

const char *cause_flags(size_t cause)
{
    return causes[cause].flags;
}

static const char *const words[] = {"acc",  "sum",   "part", "lane", "value", "scale", "left",
                                    "next", "block", "row",  "tile", "bound", "step",  "mean",
                                    "peak", "gain",  "edge", "mass", "front", "rest"};

/* A name that no header has. */
static const char *new_name(struct rng *rng, struct arena *arena)
{
    const size_t count = sizeof words / sizeof *words;
    const char *a = words[rng_below(rng, count)], *b = words[rng_below(rng, count)];
    switch (rng_below(rng, 3)) {
    case 0:
        return arena_printf(arena, "%s_%s", a, b);
    case 1:
        return arena_printf(arena, "%s%d", a, (int)rng_below(rng, 90) + 10);
    default:
        return arena_printf(arena, "%s_%s_%d", a, b, (int)rng_below(rng, 9));
    }
}

static const char *vector(struct rng *rng, struct arena *arena)
{
    static const char *const forms[] = {"_mm256_loadu_ps(x + %d)", "_mm256_set1_ps(%d.5f)",
                                        "_mm256_add_ps(_mm256_loadu_ps(x), _mm256_set1_ps(%d.0f))",
                                        "_mm256_mul_ps(_mm256_loadu_ps(x), _mm256_set1_ps(%d.0f))"};
    const char *form = forms[rng_below(rng, 4)];
    const char *slot = strstr(form, "%d");
    return arena_printf(arena, "%.*s%d%s", (int)(slot - form), form, (int)rng_below(rng, 9) + 1,
                        slot + 2);
}

static void put_named(struct buf *out, const char *text, const char *names[4], struct rng *rng,
                      struct arena *arena)
{
    for (const char *c = text; *c; c++) {
        if (*c == '$' && c[1] >= 'a' && c[1] <= 'd') {
            const size_t which = (size_t)(c[1] - 'a');
            while (!names[which])
                names[which] = new_name(rng, arena);
            (void)buf_append_str(out, names[which]);
            (void)buf_printf(out, "%c", 'p' + (char)which);
            c++;
        } else if (*c == '#' && c[1] != 'i') {
            (void)buf_printf(out, "%d", (int)rng_below(rng, 60) + 2);
        } else if (*c == '@') {
            (void)buf_append_str(out, vector(rng, arena));
        } else {
            (void)buf_append_char(out, *c);
        }
    }
}

static void put_filled(struct buf *out, const char *text, struct rng *rng, struct arena *arena)
{
    const char *names[4] = {0};
    put_named(out, text, names, rng, arena);
}

/* Sound code that has nothing to do with the cause. */
static void put_helpers(struct buf *out, struct rng *rng, struct arena *arena)
{
    static const char *const helpers[] = {
        "static inline float h_$a(float $b)\n{\n    return $b * #.0f + 1.0f;\n}\n\n",
        "/* $a of $b */\nstatic float h_$a(const float *restrict $b, int64_t $c)\n{\n    float $d "
        "= "
        "0.0f;\n    for (int64_t i = 0; i < $c; i++)\n        $d += $b[i];\n    return $d;\n}\n\n",
        "enum { H_$a = # };\n\n",
        "typedef float h_$a __attribute__((vector_size(32), aligned(4), may_alias));\n\n",
    };
    for (uint64_t left = rng_below(rng, 4); left > 0; left--)
        put_filled(out, helpers[rng_below(rng, 4)], rng, arena);
}

static void put_statements(struct buf *out, struct rng *rng, struct arena *arena)
{
    static const char *const statements[] = {
        "    float f_$a = #.0f;\n    total[0] += f_$a;\n",
        "    for (int64_t f_$a = 0; f_$a + # <= n; f_$a += #)\n        total[0] += x[f_$a];\n",
        "    if (n > #) {\n        /* more of $a */\n        total[0] *= 0.5f;\n    }\n",
        "    // $a and $b\n    total[0] = (total[0] + #.0f) / (1.0f + x[0] * x[0]);\n",
        "    float f_$a[#] = {0};\n    f_$a[0] = x[0];\n    total[0] += f_$a[0];\n",
    };
    for (uint64_t left = rng_below(rng, 5); left > 0; left--)
        put_filled(out, statements[rng_below(rng, 5)], rng, arena);
}

char *failing_source(size_t cause, struct rng *rng, struct arena *arena)
{
    CLEANUP(buf_free) struct buf out = {0};
    const char *names[4] = {0}; /* the same outside and inside */
    if (causes[cause].needs_intrinsics ||
        (rng_below(rng, 3) == 0 && !str_equal(causes[cause].key, "unknown-type __m256")))
        (void)buf_append_str(&out, "#include <immintrin.h>\n");
    if (rng_below(rng, 3) == 0)
        (void)buf_append_str(&out, "#include <math.h>\n");
    put_helpers(&out, rng, arena);
    put_named(&out, causes[cause].outside, names, rng, arena);
    (void)buf_append_str(&out,
                         "void sum(const float *restrict x, float *restrict total, int64_t n)\n"
                         "{\n    total[0] = 0.0f;\n");
    put_statements(&out, rng, arena);
    (void)buf_append_str(&out, "    ");
    put_named(&out, causes[cause].inside, names, rng, arena);
    (void)buf_append_char(&out, '\n');
    put_statements(&out, rng, arena);
    (void)buf_append_str(&out, "}\n");
    return arena_strdup(arena, buf_text(&out));
}
