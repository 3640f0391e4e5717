/* Which tools run, in which order, and what is kept of what they say. */
#include "profile/read.h"

#include "base/str.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MOST_BLOCK = 600, MOST_OF_A_TOOL = 6, MOST_LOOKED_UP = 512 };
/* From this share of its bound on there is little left to find; from that one on memory is what a
 * kernel that memory bounds waits for. */
#define NEAR_THE_BOUND 0.9
#define AT_MEMORY 0.6

struct profile_plan profile_plan(enum roofline_class roofline, double share)
{
    struct profile_plan plan = {.record = true, .loop = true, .throughput = true, .samples = true};
    if (roofline != ROOFLINE_UNKNOWN && share >= NEAR_THE_BOUND)
        return (struct profile_plan){.why = "it is near its bound: there is little left to find"};
    plan.misses = roofline == ROOFLINE_MEMORY || roofline == ROOFLINE_LATENCY;
    switch (roofline) {
    case ROOFLINE_MEMORY:
        plan.throughput = share < AT_MEMORY;
        plan.why = plan.throughput ? "memory should bound it, and does not yet"
                                   : "memory bounds it: how ports are used does not matter";
        break;
    case ROOFLINE_COMPUTE:
        plan.why = "arithmetic bounds it";
        break;
    case ROOFLINE_LATENCY:
        plan.why = "it is far from memory and peak alike";
        break;
    case ROOFLINE_UNKNOWN:
        plan.why = "nobody knows what bounds it";
        break;
    }
    return plan;
}

/* One profile on its way. */
struct work {
    struct target *target;
    const struct build_request *request;
    const struct profile_plan *plan;
    const struct profile_runs *runs;
    struct arena *arena;
    struct profile *out;
    struct loop loops[PROFILE_MAX_LOOPS];
    size_t loop_count;
    int line_count;   /* of the candidate's source */
    bool are_weighed; /* loops, by samples */
};

static void say(struct work *w, const char *tool, bool ran, const char *said)
{
    if (w->out->note_count < PROFILE_MAX_NOTES)
        w->out->notes[w->out->note_count++] = (struct profile_note){tool, said, ran};
}

/* One finding for a kind and a line; what only says that a loop is scalar gives way to a reason. */
static bool is_known(const struct profile *profile, const struct finding *finding)
{
    for (size_t i = 0; i < profile->count; i++) {
        const struct finding *other = &profile->findings[i];
        if (other->line == finding->line && other->kind == finding->kind)
            return true;
        if (finding->kind == FINDING_SCALAR && other->kind <= FINDING_NOT_VECTORIZED &&
            other->line == finding->line)
            return true;
    }
    return false;
}

static void keep(struct work *w, const struct finding *found, size_t count)
{
    for (size_t i = 0; i < count && w->out->count < PROFILE_MAX_FINDINGS; i++) {
        if (!is_known(w->out, &found[i]))
            w->out->findings[w->out->count++] = found[i];
    }
}

/* Elements of the task's type in the widest register. */
static int64_t lanes_of(const struct work *w)
{
    const int64_t bytes = (int64_t)dtype_bytes(w->request->task->dtype);
    return bytes > 0 ? target_features(w->target)->vector_bytes / bytes : 0;
}

static void read_record(struct work *w, const struct build_notes *notes)
{
    struct finding found[MOST_OF_A_TOOL];
    const struct record record = {.text = notes->record.text,
                                  .tool = notes->record.tool,
                                  .loops = w->loops,
                                  .loop_count = w->loop_count,
                                  .lanes = lanes_of(w),
                                  .line_count = w->line_count};
    struct err problem;
    size_t count = 0;
    if (notes->record.problem[0]) {
        say(w, notes->record.tool, false, notes->record.problem);
        return;
    }
    if (str_equal(notes->family, "gcc")) {
        count = profile_read_gcc(&record, w->arena, found, MOST_OF_A_TOOL);
    } else if (!profile_read_clang(&record, w->arena, found, MOST_OF_A_TOOL, &count, &problem)) {
        say(w, record.tool, false, arena_strdup(w->arena, problem.message));
        return;
    }
    say(w, record.tool, true,
        arena_printf(w->arena, "%zu loop%s not vectorized%s", count, count == 1 ? "" : "s",
                     notes->record.is_cut ? "; its record was cut" : ""));
    keep(w, found, count);
}

/* Of what is seen in the hot loop of a task in place: compilers make such a loop twice and choose
 * where it runs, by whether its arguments overlap. */
static void keep_of_hot_loop(struct work *w, struct finding *found, size_t count)
{
    for (size_t i = 0; i < count && task_is_in_place(w->request->task); i++) {
        found[i].may_not_run = true;
        found[i].text =
            arena_printf(w->arena, "%s, if this version of it is the one that runs", found[i].text);
    }
    keep(w, found, count);
}

static const char *why_no_block(const struct loop *hot, struct arena *arena)
{
    if (hot->count > MOST_BLOCK)
        return arena_printf(arena, "the hot loop has %zu instructions, more than %d", hot->count,
                            MOST_BLOCK);
    for (size_t i = 0; i < hot->count; i++) {
        if (hot->items[i].class == INSTRUCTION_CALL)
            return "the hot loop calls a function, which is where its time goes";
    }
    return NULL;
}

static bool read_throughput(struct work *w, const struct loop *hot, struct err *err)
{
    struct finding found[MOST_OF_A_TOOL];
    struct tool_output said;
    struct err problem;
    size_t count = 0;
    const char *why_not = why_no_block(hot, w->arena);
    if (why_not) {
        say(w, "llvm-mca", false, why_not);
        return true;
    }
    if (!target_throughput(w->target, loop_block(hot, w->arena), w->arena, &said, err))
        return false;
    if (said.problem[0]) {
        say(w, said.tool[0] ? said.tool : "llvm-mca", false, said.problem);
    } else if (!profile_read_mca(said.text, said.tool, hot, w->arena, found, MOST_OF_A_TOOL, &count,
                                 &problem)) {
        say(w, said.tool, false, arena_strdup(w->arena, problem.message));
    } else {
        say(w, said.tool, true, count ? "something holds the hot loop up" : "nothing stands out");
        keep_of_hot_loop(w, found, count);
    }
    return true;
}

static bool read_assembly(struct work *w, const struct build_notes *notes, struct err *err)
{
    struct finding found[MOST_OF_A_TOOL];
    const struct tool_output *assembly = &notes->assembly;
    const struct loop *hot = w->loops;
    if (assembly->problem[0]) {
        if (!str_equal(assembly->problem, notes->record.problem) || !w->plan->record)
            say(w, assembly->tool, false, assembly->problem);
        return true;
    }
    if (w->loop_count == 0) {
        say(w, "hot loop", false, "there is no loop in its code");
        return true;
    }
    if (w->plan->throughput && !read_throughput(w, hot, err))
        return false;
    if (w->plan->loop) {
        keep_of_hot_loop(w, found,
                         profile_read_loop(hot, assembly->tool,
                                           target_features(w->target)->vector_bytes, w->arena,
                                           found, MOST_OF_A_TOOL));
        say(w, "hot loop", true,
            arena_printf(w->arena, "%zu instructions, of %zu inner loop%s, chosen by %s%s",
                         hot->count, w->loop_count, w->loop_count == 1 ? "" : "s",
                         w->are_weighed ? "samples" : "its code",
                         task_is_in_place(w->request->task)
                             ? "; arguments are one buffer: another version of it may run"
                             : ""));
    }
    return true;
}

/* Places with the most hits first, as many as a look-up takes; then in order again. */
static size_t choose_places(const struct session_samples *samples, struct sample_place *places)
{
    size_t count = 0;
    for (size_t i = 0; i < samples->place_count; i++) {
        if (count < MOST_LOOKED_UP) {
            places[count++] = samples->places[i];
            continue;
        }
        size_t least = 0;
        for (size_t k = 1; k < count; k++)
            least = places[k].hits < places[least].hits ? k : least;
        if (places[least].hits >= samples->places[i].hits)
            continue;
        memmove(places + least, places + least + 1, (count - least - 1) * sizeof *places);
        places[count - 1] = samples->places[i];
    }
    return count;
}

static const char *samples_text(const struct work *w, int64_t known)
{
    const struct session_samples *samples = &w->runs->watch.samples;
    const char *text =
        arena_printf(w->arena, "%" PRId64 " samples in case %s, one in %" PRId64 " us of CPU time",
                     samples->inside + samples->called, w->runs->watch.case_name,
                     (w->runs->watch.period_ns + 500) / 1000);
    if (samples->inside > known)
        text = arena_printf(w->arena, "%s; %" PRId64 " of no known line", text,
                            samples->inside - known);
    if (samples->lost > 0)
        text = arena_printf(w->arena, "%s; %" PRId64 " lost", text, samples->lost);
    return text;
}

/* Lines of what was seen, and the loops in order of it. */
static bool read_samples(struct work *w, struct err *err)
{
    static const char tool[] = "cpu-clock";
    const struct profile_watch *watch = &w->runs->watch;
    const struct session_samples *samples = &watch->samples;
    struct finding found[MOST_OF_A_TOOL];
    struct tool_output said = {.text = "", .problem = ""};
    struct line_hits *lines = arena_array(w->arena, PROFILE_MAX_LINES, sizeof *lines);
    struct sample_place *places = arena_array(w->arena, MOST_LOOKED_UP, sizeof *places);
    uint64_t *addresses = arena_array(w->arena, MOST_LOOKED_UP, sizeof *addresses);
    int64_t known = 0;
    if (watch->problem[0]) {
        say(w, tool, false, watch->problem);
        return true;
    }
    const char *doubt = profile_doubt_samples(samples, w->arena);
    if (doubt) {
        say(w, tool, false, doubt);
        return true;
    }
    const size_t count = choose_places(samples, places);
    for (size_t i = 0; i < count; i++)
        addresses[i] = places[i].offset;
    if (count > 0 && !target_lines(w->target, watch->image, watch->image_bytes, addresses, count,
                                   w->arena, &said, err))
        return false;
    const size_t line_count = profile_read_lines(said.text, places, count, w->line_count, w->arena,
                                                 lines, PROFILE_MAX_LINES);
    for (size_t i = 0; i < line_count; i++)
        known += lines[i].hits;
    w->are_weighed = profile_weigh_loops(w->loops, w->loop_count, lines, line_count);
    const struct sampled sampled = {.tool = tool,
                                    .samples = samples,
                                    .lines = lines,
                                    .line_count = line_count,
                                    .loops = w->loops,
                                    .loop_count = w->loop_count};
    keep(w, found, profile_read_samples(&sampled, w->arena, found, MOST_OF_A_TOOL));
    say(w, tool, true,
        said.problem[0]
            ? arena_printf(w->arena, "%s; without lines: %s", samples_text(w, known), said.problem)
            : samples_text(w, known));
    return true;
}

static void read_misses(struct work *w)
{
    const struct profile_misses *misses = &w->runs->misses;
    const struct miss_record record = {.text = misses->said.text,
                                       .tool = misses->said.tool,
                                       .shape = misses->shape,
                                       .bytes = misses->bytes,
                                       .line_count = w->line_count};
    struct finding found[MOST_OF_A_TOOL];
    struct err problem;
    size_t count = 0;
    double again = 0.0;
    if (misses->problem[0]) {
        say(w, "cachegrind", false, misses->problem);
    } else if (!profile_read_misses(&record, w->arena, found, MOST_OF_A_TOOL, &count, &again,
                                    &problem)) {
        say(w, record.tool, false, arena_strdup(w->arena, problem.message));
    } else {
        keep(w, found, count);
        const size_t before = w->out->count;
        if (w->loop_count > 0)
            w->out->count = profile_drop_front_end(w->out->findings, before, w->loops);
        say(w, record.tool, true,
            arena_printf(w->arena,
                         "at %s the first cache is missed %.3g times for each line of the "
                         "data%s%s",
                         misses->shape, again, misses->said.is_cut ? "; its file was cut" : "",
                         w->out->count < before ? "; front-end, by llvm-mca, gives way to that"
                                                : ""));
    }
}

static int lines_of(const char *source)
{
    int count = 1;
    for (; *source; source++)
        count += *source == '\n';
    return count;
}

bool profile_run(struct target *target, const struct build_request *request,
                 const struct profile_plan *plan, const struct profile_runs *runs,
                 struct arena *arena, struct profile *out, struct err *err)
{
    struct profile profile = {.count = 0};
    struct build_notes notes;
    struct work *w = arena_alloc(arena, sizeof *w);
    *w = (struct work){
        .target = target, .request = request, .plan = plan, .arena = arena, .out = &profile};
    w->runs = runs;
    w->line_count = lines_of(request->candidate->source);
    if (plan->record || plan->loop || plan->throughput) {
        if (!target_notes(target, request, arena, &notes, err))
            return false;
        w->loop_count = profile_find_loops(notes.assembly.text, w->line_count, arena, w->loops,
                                           PROFILE_MAX_LOOPS);
        profile.timed_out = notes.timed_out;
        if (plan->samples && runs && !read_samples(w, err))
            return false;
        if (plan->record)
            read_record(w, &notes);
        if (!read_assembly(w, &notes, err))
            return false;
        if (plan->misses && runs)
            read_misses(w);
    }
    *out = profile;
    return true;
}
