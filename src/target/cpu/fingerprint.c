#include "target/cpu/cpu.h"

#include "base/buf.h"
#include "base/str.h"
#include "os/file.h"
#include "json/json.h"

/*
 * <cache_dir>/<id>.json: what was tried and measured, for the next run on the same machine. A file
 * that is missing, damaged or of another format is as none.
 */
/* 2: rates by the kernel's account. */
enum { FORMAT = 2, MOST_BYTES = 256 * 1024 };

static const char *path_of(const struct target *target, struct arena *arena)
{
    return os_path_join(arena, target->cache_dir,
                        arena_printf(arena, "%s.json", target->features.id.text));
}

static void read_compilers(struct target_features *f, const struct json *list)
{
    for (size_t i = 0; i < f->compiler_count; i++) {
        struct target_compiler *c = &f->compilers[i];
        for (const struct json *item = list ? list->first : NULL; item; item = item->next) {
            if (!str_equal(json_string(json_get(item, "name"), ""), c->name))
                continue;
            c->has_polly = json_bool(json_get(item, "polly"), false);
            c->polly_is_plugin = json_bool(json_get(item, "polly_is_plugin"), false);
            c->has_graphite = json_bool(json_get(item, "graphite"), false);
            c->has_openmp_simd = json_bool(json_get(item, "openmp_simd"), false);
        }
    }
}

static void read_rates(struct target_features *f, const struct json *root)
{
    const struct json *bandwidth = json_get(root, "bandwidth_gbs");
    f->peak_gflops_f32 = json_real(json_get(root, "peak_gflops_f32"), 0);
    f->peak_gflops_f64 = json_real(json_get(root, "peak_gflops_f64"), 0);
    for (size_t i = 0; i < TARGET_MAX_CACHES; i++)
        f->bandwidth_gbs[i] = json_real(json_at(bandwidth, i), 0);
    f->copy_gbs = json_real(json_get(root, "copy_gbs"), 0);
    f->doorbell_ns = json_real(json_get(root, "doorbell_ns"), 0);
    f->measured_wall_ns = json_int(json_get(root, "measured_wall_ns"), 0);
}

bool fingerprint_read(struct target *target)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct target_features *f = &target->features;
    char *text = NULL;
    size_t length = 0;
    const struct json *root = NULL;
    struct err ignored;
    if (!target->cache_dir ||
        !os_read_file(path_of(target, &arena), MOST_BYTES, &arena, &text, &length, &ignored) ||
        !json_parse(text, length, "fingerprint", &arena, &root, &ignored) ||
        json_int(json_get(root, "format"), 0) != FORMAT ||
        !str_equal(json_string(json_get(root, "id"), ""), f->id.text))
        return false;
    read_compilers(f, json_get(root, "compilers"));
    read_rates(f, root);
    return true;
}

static void write_compilers(const struct target_features *f, struct json_writer *w)
{
    json_key(w, "compilers");
    json_begin_array(w);
    for (size_t i = 0; i < f->compiler_count; i++) {
        const struct target_compiler *c = &f->compilers[i];
        json_begin_object(w);
        json_put_string(w, "name", c->name);
        json_put_string(w, "version", c->version);
        json_put_bool(w, "polly", c->has_polly);
        json_put_bool(w, "polly_is_plugin", c->polly_is_plugin);
        json_put_bool(w, "graphite", c->has_graphite);
        json_put_bool(w, "openmp_simd", c->has_openmp_simd);
        json_end_object(w);
    }
    json_end_array(w);
}

bool fingerprint_write(const struct target *target, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    CLEANUP(buf_free) struct buf text = {0};
    const struct target_features *f = &target->features;
    struct json_writer w = {.out = &text};
    if (!target->cache_dir)
        return true;
    json_begin_object(&w);
    json_put_int(&w, "format", FORMAT);
    json_put_string(&w, "id", f->id.text);
    json_put_string(&w, "cpu", f->cpu);
    json_put_string(&w, "isa", f->isa);
    json_put_string(&w, "os", f->os);
    write_compilers(f, &w);
    json_put_real(&w, "peak_gflops_f32", f->peak_gflops_f32);
    json_put_real(&w, "peak_gflops_f64", f->peak_gflops_f64);
    json_key(&w, "bandwidth_gbs");
    json_begin_array(&w);
    for (size_t i = 0; i < TARGET_MAX_CACHES; i++)
        json_write_real(&w, f->bandwidth_gbs[i]);
    json_end_array(&w);
    json_put_real(&w, "copy_gbs", f->copy_gbs);
    json_put_real(&w, "doorbell_ns", f->doorbell_ns);
    json_put_int(&w, "measured_wall_ns", f->measured_wall_ns);
    json_end_object(&w);
    (void)buf_append_char(&text, '\n');
    return os_make_dirs(target->cache_dir, err) &&
           os_write_file(path_of(target, &arena), text.data, text.length, false, err);
}
