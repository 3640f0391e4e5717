#include "command/internal.h"

#include "os/file.h"
#include "target/target.h"

static const struct param list_params[] = {{0}};

static bool run_list(const struct command_call *call, struct command_result *out, struct err *err)
{
    struct target_info targets[16];
    const size_t count = target_list(targets, 16);
    struct json_writer w = {.out = &out->json};
    json_begin_array(&w);
    for (size_t i = 0; i < count; i++) {
        (void)buf_printf(&out->text, "%-8s %s\n", targets[i].name, targets[i].summary);
        json_begin_object(&w);
        json_put_string(&w, "name", targets[i].name);
        json_put_string(&w, "summary", targets[i].summary);
        json_end_object(&w);
    }
    json_end_array(&w);
    (void)call;
    (void)err;
    return true;
}

const struct command command_target_list = {
    .name = "target list",
    .summary = "where candidates can run",
    .description = "The targets of this build. 'kope target probe' measures one.",
    .params = list_params,
    .run = run_list,
};

static const struct param probe_params[] = {
    {"target", "NAME", "one that 'kope target list' shows", "cpu", PARAM_TEXT, true, false, NULL},
    {"again", NULL, "measure again, even where a measurement is kept", NULL, PARAM_FLAG, false,
     false, NULL},
    PARAM_MEMORY,
    {0},
};

static void write_features(const struct target_features *f, struct buf *out)
{
    (void)buf_printf(out, "%s: %s\n  %s, %lld cores, SIMD %lld bytes\n  isa: %s\n", f->name, f->cpu,
                     f->arch, (long long)f->cores, (long long)f->vector_bytes, f->isa);
    (void)buf_printf(out, "  caches: L1d %lld KiB, L2 %lld KiB, L3 %lld KiB\n",
                     (long long)f->cache_bytes[0] / 1024, (long long)f->cache_bytes[1] / 1024,
                     (long long)f->cache_bytes[2] / 1024);
    (void)buf_printf(out, "  one core: %.1f GFLOP/s float32, %.1f float64\n", f->peak_gflops_f32,
                     f->peak_gflops_f64);
    (void)buf_printf(out, "  read: L1 %.0f, L2 %.0f, L3 %.0f, memory %.1f GB/s; copy %.1f GB/s\n",
                     f->bandwidth_gbs[0], f->bandwidth_gbs[1], f->bandwidth_gbs[2],
                     f->bandwidth_gbs[3], f->copy_gbs);
    (void)buf_printf(out, "  an empty call: %.0f ns\n", f->doorbell_ns);
    for (size_t i = 0; i < f->compiler_count; i++) {
        const struct target_compiler *c = &f->compilers[i];
        (void)buf_printf(out, "  %-10s %-10s %s%s%s\n", c->name, c->version, c->path,
                         c->has_polly ? ", polly" : "", c->has_graphite ? ", graphite" : "");
    }
    (void)buf_printf(out, "  fingerprint %s\n", f->id.text);
}

static void write_features_json(const struct target_features *f, struct buf *out)
{
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_put_string(&w, "id", f->id.text);
    json_put_string(&w, "name", f->name);
    json_put_string(&w, "cpu", f->cpu);
    json_put_string(&w, "isa", f->isa);
    json_put_int(&w, "cores", f->cores);
    json_put_int(&w, "vector_bytes", f->vector_bytes);
    json_put_real(&w, "peak_gflops_f32", f->peak_gflops_f32);
    json_put_real(&w, "peak_gflops_f64", f->peak_gflops_f64);
    json_key(&w, "bandwidth_gbs");
    json_begin_array(&w);
    for (size_t i = 0; i < 4; i++)
        json_write_real(&w, f->bandwidth_gbs[i]);
    json_end_array(&w);
    json_put_real(&w, "copy_gbs", f->copy_gbs);
    json_put_real(&w, "doorbell_ns", f->doorbell_ns);
    json_key(&w, "compilers");
    json_begin_array(&w);
    for (size_t i = 0; i < f->compiler_count; i++) {
        json_begin_object(&w);
        json_put_string(&w, "name", f->compilers[i].name);
        json_put_string(&w, "version", f->compilers[i].version);
        json_put_string(&w, "path", f->compilers[i].path);
        json_end_object(&w);
    }
    json_end_array(&w);
    json_end_object(&w);
}

static bool run_probe(const struct command_call *call, struct command_result *out, struct err *err)
{
    CLEANUP(target_close) struct target *target = NULL;
    const char *name = command_text(call, "target");
    const char *memory = command_text(call, "memory");
    const char *dir =
        os_path_join(call->arena, memory ? memory : memory_default_dir(call->arena), "targets");
    if (!target_open(name ? name : "cpu", dir, &target, err) ||
        !target_probe(target, command_flag(call, "again"), err))
        return false;
    write_features(target_features(target), &out->text);
    write_features_json(target_features(target), &out->json);
    return true;
}

const struct command command_target_probe = {
    .name = "target probe",
    .summary = "measure a target: peak rate, bandwidth, compilers",
    .description = "Finds compilers, ISA and caches, and measures peak GFLOP/s and bandwidth of "
                   "each level on one core. The result is kept\n"
                   "under the machine's fingerprint.",
    .examples = "  kope target probe\n  kope target probe cpu --again",
    .params = probe_params,
    .run = run_probe,
};
