/* The helpers of dot as text: additions of groups of products, panels, tiles of sums. */
#include "moves/nest/dot.h"

#include "base/buf.h"

#include <string.h>

/* Between rows, so that they do not all lie in one set of a cache. */
enum { DOT_PITCH_MORE = 64 };

/* The instructions of a group by its size and the bytes of a vector, best first, with the condition
 * as compilers for x86 have it. */
static const struct {
    int64_t group, vector_bytes;
    const char *condition, *function;
    bool adds; /* to a sum; else it only multiplies */
} instructions[] = {
    {4, 64, "defined __AVX512VNNI__", "_mm512_dpbusd_epi32", true},
    {4, 32, "defined __AVX512VNNI__ && defined __AVX512VL__", "_mm256_dpbusd_epi32", true},
    {4, 32, "defined __AVXVNNI__", "_mm256_dpbusd_avx_epi32", true},
    {4, 16, "defined __AVX512VNNI__ && defined __AVX512VL__", "_mm_dpbusd_epi32", true},
    {4, 16, "defined __AVXVNNI__", "_mm_dpbusd_avx_epi32", true},
    {2, 64, "defined __AVX512VNNI__", "_mm512_dpwssd_epi32", true},
    {2, 64, "defined __AVX512BW__", "_mm512_madd_epi16", false},
    {2, 32, "defined __AVX512VNNI__ && defined __AVX512VL__", "_mm256_dpwssd_epi32", true},
    {2, 32, "defined __AVXVNNI__", "_mm256_dpwssd_avx_epi32", true},
    {2, 32, "defined __AVX2__", "_mm256_madd_epi16", false},
    {2, 16, "defined __AVX512VNNI__ && defined __AVX512VL__", "_mm_dpwssd_epi32", true},
    {2, 16, "defined __AVXVNNI__", "_mm_dpwssd_avx_epi32", true},
    {2, 16, "defined __SSE2__", "_mm_madd_epi16", false},
};

int64_t dot_columns(const struct dot_shape *shape)
{
    return shape->vectors * shape->lanes;
}

int64_t dot_panel_elements(const struct dot_shape *shape)
{
    return shape->most_rounds * dot_columns(shape);
}

/* Of the elements of a panel, and of the rows beside it. */
static int panel_bits(const struct dot_shape *shape)
{
    return shape->group == 4 ? 8 : 16;
}

const char *dot_panel_type(const struct dot_shape *shape)
{
    return panel_bits(shape) == 8 ? "uint8_t" : "uint16_t";
}

static const char *name_of(struct dot_element element)
{
    return element.bits == 16 ? "i16" : element.is_signed ? "i8" : "u8";
}

static const char *type_of(struct dot_element element)
{
    return element.bits == 16 ? "int16_t" : element.is_signed ? "int8_t" : "uint8_t";
}

/* Bytes with a sign that stand where those without one are asked for have 128 added, which is taken
 * off each sum again: 128 times the sum of the row. */
static bool is_raised(const struct dot_shape *shape)
{
    return shape->group == 4 && shape->row.is_signed && shape->packed.is_signed;
}

const char *dot_pack_name(const struct dot_shape *shape, struct arena *arena)
{
    return arena_printf(arena, "dot%lld_%s%s_pack_%lld", (long long)shape->group,
                        name_of(shape->packed), is_raised(shape) ? "_raised" : "",
                        (long long)shape->vectors);
}

static const char *name_part(const struct dot_shape *shape, const char *part, struct arena *arena)
{
    return arena_printf(arena, "dot%lld_%s_%s_%s_%lldx%lld", (long long)shape->group,
                        name_of(shape->row), name_of(shape->packed), part, (long long)shape->rows,
                        (long long)shape->vectors);
}

const char *dot_tile_name(const struct dot_shape *shape, struct arena *arena)
{
    return name_part(shape, "tile", arena);
}

/* --- one group ---------------------------------------------------------------------------------
 */

static void print_types(const struct dot_shape *shape, struct buf *out)
{
    const long long bytes = shape->vector_bytes;
    (void)buf_printf(out,
                     "#include <stdint.h>\n"
                     "#include <string.h>\n"
                     "#if defined __x86_64__\n"
                     "#include <immintrin.h>\n"
                     "#endif\n"
                     "/* vectors of %lld sums of 32 bits, which wrap around */\n"
                     "typedef uint32_t vdot __attribute__((vector_size(%lld)));\n"
                     "typedef int32_t vdot_signed __attribute__((vector_size(%lld)));\n"
                     "/* what is in memory, and 32 bits of it in every lane */\n"
                     "static inline vdot vdot_at(const void *from)\n"
                     "{\n"
                     "    vdot x;\n"
                     "    memcpy(&x, from, sizeof x);\n"
                     "    return x;\n"
                     "}\n"
                     "static inline vdot vdot_spread(const void *from)\n"
                     "{\n"
                     "    uint32_t x;\n"
                     "    memcpy(&x, from, sizeof x);\n"
                     "    return x - (vdot){0};\n"
                     "}\n\n",
                     (long long)shape->lanes, bytes, bytes);
}

static void print_add(const struct dot_shape *shape, struct buf *out)
{
    const char *between = "#if ";
    const int bits = (int)shape->vector_bytes * 8;
    (void)buf_append_str(
        out,
        shape->group == 4
            ? "/* sum + u[4 l] s[4 l] + ... + u[4 l + 3] s[4 l + 3] in lane l, of bytes: those "
              "of s have a sign */\n"
              "static inline vdot dot4_add(vdot sum, vdot u, vdot s)\n{\n"
            : "/* sum + u[2 l] s[2 l] + u[2 l + 1] s[2 l + 1] in lane l, of signed 16 bits */\n"
              "static inline vdot dot2_add(vdot sum, vdot u, vdot s)\n{\n");
    for (size_t i = 0; i < sizeof instructions / sizeof *instructions; i++) {
        if (instructions[i].group != shape->group ||
            instructions[i].vector_bytes != shape->vector_bytes)
            continue;
        (void)buf_printf(out, "%s%s\n", between, instructions[i].condition);
        if (instructions[i].adds)
            (void)buf_printf(out, "    return (vdot)%s((__m%di)sum, (__m%di)u, (__m%di)s);\n",
                             instructions[i].function, bits, bits, bits);
        else
            (void)buf_printf(out, "    return sum + (vdot)%s((__m%di)u, (__m%di)s);\n",
                             instructions[i].function, bits, bits);
        between = "#elif ";
    }
    (void)buf_append_str(
        out, shape->group == 4
                 ? "#else\n"
                   "    for (int i = 0; i < 32; i += 8)\n"
                   "        sum += (u >> i & 255) * (vdot)((vdot_signed)(s << (24 - i)) >> 24);\n"
                   "    return sum;\n"
                   "#endif\n"
                   "}\n\n"
                 : "#else\n"
                   "    for (int i = 0; i < 32; i += 16)\n"
                   "        sum += (vdot)((vdot_signed)(u << (16 - i)) >> 16) *\n"
                   "               (vdot)((vdot_signed)(s << (16 - i)) >> 16);\n"
                   "    return sum;\n"
                   "#endif\n"
                   "}\n\n");
}

/* --- panels ------------------------------------------------------------------------------------
 */

/* "(uint32_t)(uint8_t)(r0[l] + 128) | (uint32_t)(uint8_t)(r1[l] + 128) << 8 | ...": gcc makes a few
 * instructions of the loop over it, where conversions of whole vectors became many. */
static void print_gathered(const struct dot_shape *shape, struct buf *out)
{
    (void)buf_append_str(out, "                ");
    for (int64_t i = 0; i < shape->group; i++)
        (void)buf_printf(out, "%s r%lld[%lld]%s", i == 0 ? type_of(shape->packed) : ",",
                         (long long)i, (long long)shape->lanes, i + 1 == shape->group ? ";\n" : "");
    for (int64_t i = 0; i < shape->group; i++)
        (void)buf_printf(out, "                memcpy(r%lld, at + %lld * step, sizeof r%lld);\n",
                         (long long)i, (long long)i, (long long)i);
    (void)buf_printf(out,
                     "#if defined __clang__\n"
                     "#pragma clang loop unroll(disable)\n"
                     "#endif\n"
                     "                for (int l = 0; l < %lld; l++)\n"
                     "                    group[l] =",
                     (long long)shape->lanes);
    for (int64_t i = 0; i < shape->group; i++)
        (void)buf_printf(out, "%s (uint32_t)(%s)(r%lld[l]%s) << %d", i == 0 ? "" : " |",
                         dot_panel_type(shape), (long long)i, is_raised(shape) ? " + 128" : "",
                         (int)i * panel_bits(shape));
    (void)buf_append_str(out, ";\n");
}

static void print_pack(const struct dot_shape *shape, const char *name, struct buf *out)
{
    const long long group = shape->group, lanes = shape->lanes, all = dot_columns(shape);
    (void)buf_printf(
        out,
        "/* Columns of x in groups of %lld rounds, side by side%s: to[p * %lld + j * %lld + i] is\n"
        " * x[(p + i) * step + j * next], and no matter what where there is none. A vector reads "
        "on\n"
        " * behind the last column while that is within x. */\n"
        "static inline void %s(%s *to, const %s *x, int64_t step, int64_t next,\n"
        "    int64_t rounds, int64_t columns)\n"
        "{\n"
        "    const int64_t end = (rounds - 1) * step + columns;\n"
        "    for (int64_t p = 0; p < rounds; p += %lld) {\n"
        "        for (int64_t j = 0; j < columns; j += %lld) {\n"
        "            uint32_t group[%lld];\n"
        "            const %s *at = x + p * step + j * next;\n"
        "            if (next == 1 && step > 0 && p + %lld <= rounds &&\n"
        "                (p + %lld) * step + j + %lld <= end) {\n",
        group, is_raised(shape) ? ", 128 more than they are" : "", all, group, name,
        dot_panel_type(shape), type_of(shape->packed), group, lanes, lanes, type_of(shape->packed),
        group, group - 1, lanes);
    print_gathered(shape, out);
    (void)buf_printf(
        out,
        "            } else {\n"
        "                for (int l = 0; l < %lld; l++) {\n"
        "                    group[l] = 0;\n"
        "                    for (int i = 0; i < %lld && j + l < columns && p + i < rounds; i++)\n"
        "                        group[l] |= (uint32_t)(%s)(at[i * step + l * next]%s) << %d * i;\n"
        "                }\n"
        "            }\n"
        "            memcpy(to + p * %lld + j * %lld, group, sizeof group);\n"
        "        }\n"
        "    }\n"
        "}\n\n",
        lanes, group, dot_panel_type(shape), is_raised(shape) ? " + 128" : "", panel_bits(shape),
        all, group);
}

/* --- tiles -------------------------------------------------------------------------------------
 */

/* "s2_0 = dot4_add(s2_0, b, a2);" for every row. */
static void print_products(const struct dot_shape *shape, int64_t vector, struct buf *out)
{
    const bool row_first = shape->group == 4 && !shape->row.is_signed;
    for (int64_t row = 0; row < shape->rows; row++) {
        const long long r = row, v = vector, group = shape->group;
        (void)buf_printf(out, "            s%lld_%lld = dot%lld_add(s%lld_%lld, ", r, v, group, r,
                         v);
        if (row_first)
            (void)buf_printf(out, "a%lld, b);\n", r);
        else
            (void)buf_printf(out, "b, a%lld);\n", r);
    }
}

static void print_round(const struct dot_shape *shape, struct buf *out)
{
    (void)buf_append_str(out, "    for (int64_t g = 0; g < groups; g++) {\n");
    for (int64_t r = 0; r < shape->rows; r++)
        (void)buf_printf(out, "        const vdot a%lld = vdot_spread(&a[%lld][g * %lld]);\n",
                         (long long)r, (long long)r, (long long)shape->group);
    for (int64_t v = 0; v < shape->vectors; v++) {
        const long long all = dot_columns(shape) * shape->group;
        const long long before = v * shape->lanes * shape->group;
        (void)buf_printf(out,
                         "        if (vectors > %lld) {\n"
                         "            const vdot b = vdot_at(panel + g * %lld + %lld);\n",
                         (long long)v, all, before);
        print_products(shape, v, out);
        (void)buf_append_str(out, "        }\n");
    }
    (void)buf_append_str(out, "    }\n");
}

/* Sums of a tile that is so many vectors wide, which is known where it is called. */
static void print_sums(const struct dot_shape *shape, const char *name, struct buf *out)
{
    (void)buf_printf(
        out,
        "static inline __attribute__((always_inline)) void %s(const int vectors,\n"
        "    uint32_t *sums, const %s (*a)[%lld], const uint32_t *start, const %s *panel, int64_t "
        "groups)\n"
        "{\n",
        name, panel_bits(shape) == 8 ? type_of(shape->row) : "int16_t",
        (long long)shape->most_rounds + DOT_PITCH_MORE, dot_panel_type(shape));
    for (int64_t r = 0; r < shape->rows; r++) {
        (void)buf_printf(out, "    vdot s%lld_0 = start[%lld] - (vdot){0}", (long long)r,
                         (long long)r);
        for (int64_t v = 1; v < shape->vectors; v++)
            (void)buf_printf(out, ", s%lld_%lld = s%lld_0", (long long)r, (long long)v,
                             (long long)r);
        (void)buf_append_str(out, ";\n");
    }
    print_round(shape, out);
    for (int64_t r = 0; r < shape->rows; r++) {
        for (int64_t v = 0; v < shape->vectors; v++) {
            const long long at = r * dot_columns(shape) + v * shape->lanes;
            (void)buf_printf(out, "    memcpy(sums + %lld, &s%lld_%lld, sizeof s%lld_%lld);\n", at,
                             (long long)r, (long long)v, (long long)r, (long long)v);
        }
    }
    (void)buf_append_str(out, "}\n\n");
}

static void print_tile(const struct dot_shape *shape, const char *name, const char *sums,
                       struct buf *out)
{
    const long long group = shape->group, rows = shape->rows;
    (void)buf_printf(
        out,
        "/* sums[r * %lld + j]: products of row r and column j of the panel, which has at most so "
        "many;\n"
        " * element p of row r is x[r * row + p * step]. Rows that are not there are the first "
        "one. */\n"
        "static inline void %s(uint32_t *sums, const %s *x, int64_t row, int64_t step,\n"
        "    int64_t rows, const %s *panel, int64_t rounds, int64_t columns)\n"
        "{\n"
        "    _Alignas(64) %s a[%lld][%lld];\n"
        "    uint32_t start[%lld] = {0};\n"
        "    for (int r = 0; r < %lld; r++) {\n"
        "        const %s *from = x + (r < rows ? r : 0) * row;\n"
        "        for (int64_t p = 0; p < rounds; p++)\n"
        "            a[r][p] = from[p * step];\n"
        "        for (int64_t p = rounds; p %% %lld != 0; p++)\n"
        "            a[r][p] = 0;\n",
        (long long)dot_columns(shape), name, type_of(shape->row), dot_panel_type(shape),
        panel_bits(shape) == 8 ? type_of(shape->row) : "int16_t", rows,
        (long long)shape->most_rounds + DOT_PITCH_MORE, rows, rows, type_of(shape->row), group);
    if (is_raised(shape))
        (void)buf_append_str(out, "        for (int64_t p = 0; p < rounds; p++)\n"
                                  "            start[r] -= 128u * (uint32_t)a[r][p];\n");
    (void)buf_printf(out, "    }\n    const int64_t groups = (rounds + %lld) / %lld;\n", group - 1,
                     group);
    for (int64_t v = shape->vectors; v > 0; v--) {
        const long long fewer = (v - 1) * shape->lanes;
        if (v > 1)
            (void)buf_printf(out, "    %sif (columns > %lld)\n", v == shape->vectors ? "" : "else ",
                             fewer);
        else if (shape->vectors > 1)
            (void)buf_append_str(out, "    else\n");
        (void)buf_printf(out, "    %s%s(%lld, sums, a, start, panel, groups);\n",
                         shape->vectors > 1 ? "    " : "", sums, (long long)v);
    }
    (void)buf_append_str(out, "}\n\n");
}

/* Puts the text there where nothing that is there defines the name. */
static void need(struct nest_edit *edit, const char *sign, const struct buf *text)
{
    if (!strstr(edit->nest->prologue, sign))
        edit->nest->prologue =
            arena_printf(edit->arena, "%s%s", edit->nest->prologue, buf_text(text));
}

void dot_need(struct nest_edit *edit, const struct dot_shape *shape)
{
    struct arena *arena = edit->arena;
    CLEANUP(buf_free) struct buf types = {0};
    CLEANUP(buf_free) struct buf add = {0};
    CLEANUP(buf_free) struct buf pack = {0};
    CLEANUP(buf_free) struct buf tile = {0};
    const char *pack_name = dot_pack_name(shape, arena);
    const char *sums_name = name_part(shape, "sums", arena);
    const char *tile_name = dot_tile_name(shape, arena);
    print_types(shape, &types);
    print_add(shape, &add);
    print_pack(shape, pack_name, &pack);
    print_sums(shape, sums_name, &tile);
    print_tile(shape, tile_name, sums_name, &tile);
    need(edit, "typedef uint32_t vdot ", &types);
    need(edit, shape->group == 4 ? " dot4_add(" : " dot2_add(", &add);
    need(edit, arena_printf(arena, " %s(", pack_name), &pack);
    need(edit, arena_printf(arena, " %s(", tile_name), &tile);
}
