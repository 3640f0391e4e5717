/* What is known of skills, and skills as files. */
#include "engine/skill_store.h"

#include "base/str.h"
#include "os/file.h"
#include "skill/markdown.h"

enum { EXAMPLE_MAX_BYTES = CANDIDATE_MAX_SOURCE_BYTES };

/* A memory to read from; none at all where the folder is missing. */
static bool open_to_read(const char *dir, struct arena *arena, struct memory *out, struct err *err)
{
    const char *path = dir ? dir : memory_default_dir(arena);
    *out = (struct memory){.dir = path};
    return !os_path_is_dir(path) || memory_open(path, false, arena, out, err);
}

static bool open_target(const char *name, struct arena *arena, struct target **out, struct err *err)
{
    const char *targets = os_path_join(arena, memory_default_dir(arena), "targets");
    return target_open(name ? name : "cpu", targets, out, err);
}

static bool believe_all(struct memory *memory, struct arena *arena, struct skill_list *list,
                        struct err *err)
{
    struct skill_belief *beliefs = arena_array(arena, list->count + 1, sizeof *beliefs);
    for (size_t i = 0; i < list->count; i++) {
        if (!memory->graph || list->items[i].evidence_count == 0)
            beliefs[i] = skill_believe(NULL, 0, NULL);
        else if (!skill_believe_now(memory, list->items[i].id, NULL, arena, &beliefs[i], err))
            return false;
    }
    list->beliefs = beliefs;
    return true;
}

bool engine_skill_list(const char *memory_dir, const char *target_name, struct arena *arena,
                       struct skill_list *out, struct err *err)
{
    CLEANUP(memory_close) struct memory memory = {0};
    CLEANUP(target_close) struct target *target = NULL;
    struct skill_list list = {0};
    if (!open_to_read(memory_dir, arena, &memory, err) ||
        !open_target(target_name, arena, &target, err) ||
        !skill_list_all(&memory, target, arena, &list.items, &list.count, err) ||
        !believe_all(&memory, arena, &list, err))
        return false;
    *out = list;
    return true;
}

static bool read_details(struct memory *memory, struct arena *arena, struct skill_details *out,
                         struct err *err)
{
    out->before = out->after = "";
    if (!memory->graph) {
        out->belief = skill_believe(NULL, 0, NULL);
        return true;
    }
    if (!graph_skill_evidence(memory->graph, out->skill.id, arena, &out->evidence,
                              &out->evidence_count, err) ||
        !memory_get_text(memory, out->skill.before_body, arena, &out->before, err) ||
        !memory_get_text(memory, out->skill.after_body, arena, &out->after, err))
        return false;
    out->belief = skill_believe(out->evidence, out->evidence_count, NULL);
    return true;
}

bool engine_skill_facts(const char *task_path, const char *target_name, struct arena *arena,
                        struct skill_facts *out, struct err *err)
{
    CLEANUP(target_close) struct target *target = NULL;
    const struct task *task = NULL;
    struct skill_facts facts = {0};
    if (!task_load(task_path, arena, &task, err) || !open_target(target_name, arena, &target, err))
        return false;
    skill_facts_of_task(task, arena, &facts);
    skill_facts_of_target(target, arena, &facts);
    *out = facts;
    return true;
}

bool engine_skill_show(const char *memory_dir, const char *target_name, const char *name,
                       const char *task_path, struct arena *arena, struct skill_details *out,
                       struct err *err)
{
    CLEANUP(memory_close) struct memory memory = {0};
    CLEANUP(target_close) struct target *target = NULL;
    struct skill_details details = {.why = ""};
    const struct graph_skill *skills = NULL;
    const struct graph_skill *found = NULL;
    size_t count = 0;
    if (!open_to_read(memory_dir, arena, &memory, err) ||
        !open_target(target_name, arena, &target, err) ||
        !skill_list_all(&memory, target, arena, &skills, &count, err) ||
        !skill_find(skills, count, name, &found, err))
        return false;
    details.skill = *found;
    if (!read_details(&memory, arena, &details, err))
        return false;
    if (task_path) {
        details.has_facts = true;
        if (!engine_skill_facts(task_path, target_name, arena, &details.facts, err) ||
            !skill_applies(found, &details.facts, arena, &details.applies, &details.why, err))
            return false;
    }
    *out = details;
    return true;
}

static bool write_text(const char *dir, const char *name, const char *text, struct arena *arena,
                       struct err *err)
{
    const char *path = os_path_join(arena, dir, name);
    return os_make_dirs(os_path_dir(arena, path), err) &&
           os_write_file(path, text, strlen(text), false, err);
}

static void write_markdown(const struct skill_details *d, struct buf *out)
{
    skill_write_markdown(&(struct skill_document){.skill = &d->skill,
                                                  .belief = &d->belief,
                                                  .evidence = d->evidence,
                                                  .evidence_count = d->evidence_count,
                                                  .before = d->before,
                                                  .after = d->after},
                         out);
}

bool engine_skill_markdown(const char *memory_dir, const char *target_name, const char *name,
                           struct buf *out, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    struct skill_details details;
    if (!engine_skill_show(memory_dir, target_name, name, NULL, &scratch, &details, err))
        return false;
    write_markdown(&details, out);
    return true;
}

static bool export_one(struct memory *memory, const struct graph_skill *skill, const char *dir,
                       struct arena *arena, struct err *err)
{
    CLEANUP(buf_free) struct buf text = {0};
    struct skill_details d = {.skill = *skill, .why = ""};
    const char *folder = os_path_join(arena, dir, skill->name);
    if (!skill_check(skill, err) || !read_details(memory, arena, &d, err))
        return false;
    write_markdown(&d, &text);
    if (!write_text(folder, "SKILL.md", buf_text(&text), arena, err))
        return false;
    return d.after[0] == '\0' || (write_text(folder, "references/before.c", d.before, arena, err) &&
                                  write_text(folder, "references/after.c", d.after, arena, err));
}

bool engine_skill_export(const char *memory_dir, const char *target_name, const char *name,
                         const char *dir, struct arena *arena, size_t *out_count, struct err *err)
{
    CLEANUP(memory_close) struct memory memory = {0};
    CLEANUP(target_close) struct target *target = NULL;
    const struct graph_skill *skills = NULL;
    const struct graph_skill *found = NULL;
    size_t count = 0;
    size_t written = 0;
    if (!open_to_read(memory_dir, arena, &memory, err) ||
        !open_target(target_name, arena, &target, err) ||
        !skill_list_all(&memory, target, arena, &skills, &count, err) ||
        (name && !skill_find(skills, count, name, &found, err)))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (name ? &skills[i] != found : skill_state_from_name(skills[i].state) != SKILL_VERIFIED)
            continue;
        if (!export_one(&memory, &skills[i], dir, arena, err))
            return false;
        written++;
    }
    *out_count = written;
    return true;
}

/* An example is both files or none. */
static bool import_example(struct memory *memory, const char *folder, struct arena *arena,
                           struct graph_skill *skill, struct err *err)
{
    char *before = NULL;
    char *after = NULL;
    const char *before_path = os_path_join(arena, folder, "references/before.c");
    const char *after_path = os_path_join(arena, folder, "references/after.c");
    if (!os_path_exists(before_path) && !os_path_exists(after_path))
        return true;
    return os_read_plain_file(before_path, EXAMPLE_MAX_BYTES, arena, &before, NULL, err) &&
           os_read_plain_file(after_path, EXAMPLE_MAX_BYTES, arena, &after, NULL, err) &&
           memory_put_text(memory, before, arena, &skill->before_body, err) &&
           memory_put_text(memory, after, arena, &skill->after_body, err);
}

bool engine_skill_import(const char *memory_dir, const char *folder, struct arena *arena,
                         struct graph_skill *out, bool *is_new, struct err *err)
{
    CLEANUP(memory_close) struct memory memory = {0};
    struct graph_skill skill;
    char *real = NULL;
    char *text = NULL;
    size_t length = 0;
    if (!os_path_real(folder, arena, &real, err))
        return false;
    const char *path = os_path_join(arena, real, "SKILL.md");
    if (!os_read_plain_file(path, SKILL_FILE_MAX_BYTES, arena, &text, &length, err) ||
        !skill_read_markdown(text, length, path, os_path_base(real), arena, &skill, err) ||
        !memory_open(memory_dir, true, arena, &memory, err) ||
        !import_example(&memory, real, arena, &skill, err))
        return false;
    skill.id = arena_strdup(arena, skill_make_id(&skill).text);
    if (!skill_store_define(&memory, &skill, is_new, err))
        return false;
    *out = skill;
    return true;
}
