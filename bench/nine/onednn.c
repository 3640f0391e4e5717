/*
 * A contender that is oneDNN (version 2), by its C interface. With -DREORDERS a convolution works
 * in the library's own blocked layout and the time holds the reorders from the plain one and back;
 * without, it works in the plain layout.
 */
#include "contender.h"

#include <math.h>
#include <oneapi/dnnl/dnnl.h>
#include <stdlib.h>

enum { MAX_STEPS = 5, MAX_OPERANDS = 5 };

struct step {
    dnnl_primitive_t primitive;
    dnnl_exec_arg_t args[MAX_OPERANDS];
    int count;
};

static struct nine_problem problem;
static dnnl_engine_t engine;
static dnnl_stream_t stream;
static struct step steps[MAX_STEPS];
static int step_count;
static float *scores;

/* An array of `rank` sizes in the order of `tag`; the library's functions want room for 12. */
static dnnl_memory_desc_t described(int rank, const int64_t *sizes, dnnl_format_tag_t tag)
{
    dnnl_dims_t dims = {0};
    dnnl_memory_desc_t out = {0};
    for (int i = 0; i < rank; i++)
        dims[i] = sizes[i];
    (void)dnnl_memory_desc_init_by_tag(&out, rank, dims, dnnl_f32, tag);
    return out;
}

static dnnl_memory_desc_t dense(int rank, const int64_t *sizes)
{
    static const dnnl_format_tag_t tags[] = {dnnl_format_tag_undef, dnnl_a, dnnl_ab, dnnl_abc,
                                             dnnl_abcd};
    return described(rank, sizes, tags[rank]);
}

static dnnl_memory_t memory(const dnnl_memory_desc_t *desc, void *at)
{
    dnnl_memory_t out = NULL;
    (void)dnnl_memory_create(&out, desc, engine, at);
    return out;
}

static void operand(struct step *step, int role, dnnl_memory_t memory)
{
    step->args[step->count++] = (dnnl_exec_arg_t){role, memory};
}

/* The next step, of an operation's description; NULL where the library has none. */
static struct step *add(const void *description, dnnl_primitive_desc_t *kept)
{
    dnnl_primitive_desc_t found = NULL;
    struct step *step = &steps[step_count];
    if (dnnl_primitive_desc_create(&found, description, NULL, engine, NULL) != dnnl_success ||
        dnnl_primitive_create(&step->primitive, found) != dnnl_success)
        return NULL;
    if (kept)
        *kept = found;
    step_count++;
    return step;
}

static bool add_unary(const void *description, const dnnl_memory_desc_t *in,
                      const dnnl_memory_desc_t *out, float *from, float *to)
{
    struct step *step = add(description, NULL);
    if (!step)
        return false;
    operand(step, DNNL_ARG_SRC, memory(in, from));
    operand(step, DNNL_ARG_DST, memory(out, to));
    return true;
}

static bool add_reorder(const dnnl_memory_desc_t *from, dnnl_memory_t in,
                        const dnnl_memory_desc_t *to, dnnl_memory_t out)
{
    dnnl_primitive_desc_t found = NULL;
    struct step *step = &steps[step_count];
    if (dnnl_reorder_primitive_desc_create(&found, from, engine, to, engine, NULL) !=
            dnnl_success ||
        dnnl_primitive_create(&step->primitive, found) != dnnl_success)
        return false;
    operand(step, DNNL_ARG_FROM, in);
    operand(step, DNNL_ARG_TO, out);
    step_count++;
    return true;
}

static bool open_matmul(const dnnl_memory_desc_t *a, const dnnl_memory_desc_t *b,
                        const dnnl_memory_desc_t *c, float *const at[3])
{
    dnnl_matmul_desc_t d;
    struct step *step = NULL;
    if (dnnl_matmul_desc_init(&d, a, b, NULL, c) != dnnl_success || !(step = add(&d, NULL)))
        return false;
    operand(step, DNNL_ARG_SRC, memory(a, at[0]));
    operand(step, DNNL_ARG_WEIGHTS, memory(b, at[1]));
    operand(step, DNNL_ARG_DST, memory(c, at[2]));
    return true;
}

static bool open_softmax(const dnnl_memory_desc_t *rows, float *from, float *to)
{
    dnnl_softmax_desc_t d;
    return dnnl_softmax_forward_desc_init(&d, dnnl_forward_inference, rows, 1) == dnnl_success &&
           add_unary(&d, rows, rows, from, to);
}

static bool open_layernorm(void)
{
    const int64_t *n = problem.sizes;
    const dnnl_memory_desc_t rows = dense(2, n), cols = dense(1, n + 1);
    dnnl_layer_normalization_desc_t d;
    if (dnnl_layer_normalization_forward_desc_init(&d, dnnl_forward_inference, &rows, NULL, 1e-5f,
                                                   dnnl_use_scale | dnnl_use_shift) != dnnl_success)
        return false;
    struct step *step = add(&d, NULL);
    if (!step)
        return false;
    operand(step, DNNL_ARG_SRC, memory(&rows, problem.args[0]));
    operand(step, DNNL_ARG_SCALE, memory(&cols, problem.args[1]));
    operand(step, DNNL_ARG_SHIFT, memory(&cols, problem.args[2]));
    operand(step, DNNL_ARG_DST, memory(&rows, problem.args[3]));
    return true;
}

static bool open_gelu(void)
{
    const dnnl_memory_desc_t all = dense(1, problem.sizes);
    dnnl_eltwise_desc_t d;
    return dnnl_eltwise_forward_desc_init(&d, dnnl_forward_inference, dnnl_eltwise_gelu_tanh, &all,
                                          0, 0) == dnnl_success &&
           add_unary(&d, &all, &all, problem.args[0], problem.args[1]);
}

static bool open_sum(void)
{
    const int64_t one = 1;
    const dnnl_memory_desc_t all = dense(1, problem.sizes), total = dense(1, &one);
    dnnl_reduction_desc_t d;
    return dnnl_reduction_desc_init(&d, dnnl_reduction_sum, &all, &total, 0, 0) == dnnl_success &&
           add_unary(&d, &all, &total, problem.args[0], problem.args[1]);
}

static bool open_transpose(void)
{
    const int64_t *n = problem.sizes;
    const dnnl_memory_desc_t from = dense(2, n), to = described(2, n, dnnl_ba);
    return add_reorder(&from, memory(&from, problem.args[0]), &to, memory(&to, problem.args[1]));
}

static bool open_attention(void)
{
    const int64_t q = problem.sizes[0], keys = problem.sizes[1], d = problem.sizes[2];
    const dnnl_memory_desc_t query = dense(2, (int64_t[]){q, d}),
                             key = described(2, (int64_t[]){d, keys}, dnnl_ba),
                             value = dense(2, (int64_t[]){keys, d}),
                             score = dense(2, (int64_t[]){q, keys});
    scores = aligned_alloc(64, ((size_t)(q * keys) * sizeof *scores + 63) / 64 * 64);
    if (!scores ||
        !open_matmul(&query, &key, &score, (float *[]){problem.args[0], problem.args[1], scores}))
        return false;
    /* The scale, in place. */
    dnnl_eltwise_desc_t scale;
    if (dnnl_eltwise_forward_desc_init(&scale, dnnl_forward_inference, dnnl_eltwise_linear, &score,
                                       1 / sqrtf((float)d), 0) != dnnl_success ||
        !add_unary(&scale, &score, &score, scores, scores))
        return false;
    return open_softmax(&score, scores, scores) &&
           open_matmul(&score, &value, &query,
                       (float *[]){scores, problem.args[2], problem.args[3]});
}

/* What the primitive wants of an operand: the plain memory, or a blocked one of its own. */
static dnnl_memory_t wanted(dnnl_primitive_desc_t primitive, dnnl_query_t role,
                            const dnnl_memory_desc_t *plain, dnnl_memory_t at,
                            const dnnl_memory_desc_t **desc)
{
    *desc = dnnl_primitive_desc_query_md(primitive, role, 0);
    return dnnl_memory_desc_equal(*desc, plain) ? at : memory(*desc, DNNL_MEMORY_ALLOCATE);
}

static bool open_conv2d(void)
{
    const int64_t *n = problem.sizes;
    const dnnl_dims_t ones = {1, 1};
    const dnnl_memory_desc_t x = dense(4, (int64_t[]){n[0], n[1], n[3], n[4]}),
                             weight = dense(4, (int64_t[]){n[2], n[1], 3, 3}),
                             bias = dense(1, n + 2),
                             y = dense(4, (int64_t[]){n[0], n[2], n[3], n[4]});
    dnnl_memory_desc_t own_x = x, own_weight = weight, own_y = y;
#ifdef REORDERS
    own_x.format_kind = own_weight.format_kind = own_y.format_kind = dnnl_format_kind_any;
#endif
    dnnl_convolution_desc_t d;
    if (dnnl_convolution_forward_desc_init(&d, dnnl_forward_inference, dnnl_convolution_direct,
                                           &own_x, &own_weight, &bias, &own_y, ones, ones,
                                           ones) != dnnl_success)
        return false;
    dnnl_primitive_desc_t found = NULL;
    dnnl_primitive_t convolution = NULL;
    if (dnnl_primitive_desc_create(&found, &d, NULL, engine, NULL) != dnnl_success ||
        dnnl_primitive_create(&convolution, found) != dnnl_success)
        return false;
    const dnnl_memory_t plain_x = memory(&x, problem.args[0]),
                        plain_weight = memory(&weight, problem.args[1]),
                        plain_y = memory(&y, problem.args[3]);
    const dnnl_memory_desc_t *want_x, *want_weight, *want_y;
    const dnnl_memory_t in = wanted(found, dnnl_query_src_md, &x, plain_x, &want_x),
                        by = wanted(found, dnnl_query_weights_md, &weight, plain_weight,
                                    &want_weight),
                        out = wanted(found, dnnl_query_dst_md, &y, plain_y, &want_y);
    if ((in != plain_x && !add_reorder(&x, plain_x, want_x, in)) ||
        (by != plain_weight && !add_reorder(&weight, plain_weight, want_weight, by)))
        return false;
    struct step *step = &steps[step_count++];
    step->primitive = convolution;
    operand(step, DNNL_ARG_SRC, in);
    operand(step, DNNL_ARG_WEIGHTS, by);
    operand(step, DNNL_ARG_BIAS, memory(&bias, problem.args[2]));
    operand(step, DNNL_ARG_DST, out);
    return out == plain_y || add_reorder(want_y, out, &y, plain_y);
}

static bool open_operator(void)
{
    const int64_t *n = problem.sizes;
    const dnnl_memory_desc_t rows = dense(2, n);
    switch (problem.operation) {
    case NINE_MATMUL: {
        const dnnl_memory_desc_t a = dense(2, (int64_t[]){n[0], n[2]}),
                                 b = dense(2, (int64_t[]){n[2], n[1]});
        return open_matmul(&a, &b, &rows, problem.args);
    }
    case NINE_CONV2D:
        return open_conv2d();
    case NINE_SOFTMAX:
        return open_softmax(&rows, problem.args[0], problem.args[1]);
    case NINE_LAYERNORM:
        return open_layernorm();
    case NINE_GELU:
        return open_gelu();
    case NINE_TRANSPOSE:
        return open_transpose();
    case NINE_SUM:
        return open_sum();
    case NINE_ATTENTION:
        return open_attention();
    case NINE_OPERATORS:
        break;
    }
    return false;
}

static void run(void *state)
{
    (void)state;
    for (int i = 0; i < step_count; i++)
        (void)dnnl_primitive_execute(steps[i].primitive, stream, steps[i].count, steps[i].args);
    (void)dnnl_stream_wait(stream);
}

bool nine_open(const struct nine_problem *p, struct nine_contender *out)
{
    problem = *p;
    *out = (struct nine_contender){.run = run};
#ifdef REORDERS
    if (p->operation != NINE_CONV2D)
        return false;
#endif
    return dnnl_engine_create(&engine, dnnl_cpu, 0) == dnnl_success &&
           dnnl_stream_create(&stream, engine, dnnl_stream_default_flags) == dnnl_success &&
           open_operator();
}
