/*
 * Inside gate/: the state of a gate and of one judgement, shared by its parts.
 *
 * gate.c      open, close, judge, confirm: the wiring
 * data.c      secret inputs and poison; element.c reads and writes one
 * compare.c   precision classes; quick.c for large outputs
 * edge.c      small and odd shapes
 * rig.c       a boxed child with its buffers
 * probe.c     inputs with what oracle and baseline make of them
 * null.c      the null battery
 * plan.c      which probes a judgement runs
 * check.c     is a candidate right
 * timing.c    how fast is one case: series of processes, when to stop
 * process.c   one process of a series, and its pairs (series.h)
 * estimate.c  what its pairs say (estimate.h)
 * empty.c     what a call costs that does nothing
 * sample.c    one timed pair
 * verify.c    what came of it (pair.h)
 * bounds.c    how far its outputs may be off
 * roofline.c  impossible times
 * forecast.c  what a confirmation will take
 * record.c    verdicts by machine code
 * decide.c    a verdict with its evidence
 * contest.c   two candidates against each other
 * watch.c     where one spends its time; misses.c which caches it misses
 */
#ifndef KOPE_GATE_INTERNAL_H
#define KOPE_GATE_INTERNAL_H

#include "gate/gate.h"

#include "base/rng.h"
#include "gate/compare.h"
#include "gate/data.h"

enum {
    /* 6: data come at the bell with threads too; 7: of any distribution; 8: also of samples whose
     * time is lost the results are verified; 9: each kind of special value alone, and all probes in
     * each process of a confirmation; 10: what looks impossible is held against the best that was
     * ever measured of the machine; 11: an interval counts as wide beside its effect, a process
     * measures for as long as it took to begin, and shared caches and memory are trusted less */
    GATE_VERSION = 11,
    PAGE_BYTES = 4096,
    ROOM_MARGIN_BYTES = 256, /* around an argument, for placements and canaries */
    MAX_PROBES = DISTRIBUTION_COUNT,
    MOST_EDGES = 20,
    MOST_SHAPES = MOST_EDGES + TASK_MAX_SPECIALS, /* and one for each declared situation */
    EDGE_CASE = TASK_MAX_CASES,                   /* in place of the index of a case */
    MOST_LATE_WRITES = 1024,
    MOST_BELL_READS = 64,
    MOST_BELL_SPANS = 64,
    MOST_DOUBTS = 3,
    WARM_BASELINES = 3,
    COLD_SHARE = 4,  /* cold times of a case have such a part of its budget, in addition */
    TWIN_BUILDS = 2, /* as the reference is; and with no product and sum in one rounding */
};

#define GATE_MS (INT64_C(1000) * 1000)
#define GATE_S (INT64_C(1000) * 1000 * 1000)

struct image {
    const void *bytes;
    size_t length;
};

struct ring;
struct staging;

/* --- rig.c: a session of one image for one case ------------------------------------------- */

/* A write into a buffer that is held back until just before the clock starts. */
struct late_write {
    void *at;
    uint64_t bits;
    size_t bytes;
};

/* An element of an output, read at the moment when the child says that it is done. */
struct bell_read {
    const void *at;
    uint64_t bits;
    size_t bytes;
};

/* Bytes of outputs that are hashed then, and again when all is still. */
struct bell_span {
    const void *at;
    size_t bytes;
};

/* What a call gets beside its arrays, in signature order: attributes, then axes. */
struct scalars {
    int64_t ints[TASK_MAX_ATTRS + TASK_MAX_AXES];
    double reals[TASK_MAX_ATTRS];
    size_t int_count, real_count;
};

/* Real attributes as the task's arithmetic has them, so that everybody computes with the same. */
void scalars_fill(struct scalars *scalars, const struct task *task,
                  const struct task_case *problem);

/* Does not move while its session lives. */
struct rig {
    const struct task *task;
    const struct task_case *problem;
    struct session *session;
    struct session_buffer buffers[TASK_MAX_ARGS]; /* `bytes` is the room */
    enum dtype dtypes[TASK_MAX_ARGS];             /* of `real`: the image's */
    size_t elements[TASK_MAX_ARGS];
    struct task_rows rows[TASK_MAX_ARGS];
    struct scalars scalars;
    struct late_write late[MOST_LATE_WRITES]; /* done once, by the next run */
    size_t late_count;
    struct bell_read reads[MOST_BELL_READS]; /* likewise */
    size_t read_count;
    struct bell_span spans[MOST_BELL_SPANS]; /* hashed with the reads */
    size_t span_count;
    uint64_t span_key, span_hash;
    const struct staging
        *staging;            /* what its rooms get at the bell of the next run; NULL: nothing */
    const struct ring *ring; /* and where */
    bool is_cold;            /* late writes are driven out of the caches too */
    bool is_spent;           /* its session has ended and is to be stopped */
};

/* Bytes of an argument in this rig. */
size_t rig_arg_bytes(const struct rig *rig, size_t arg);

/* Starts the child; `real` is what `real` is in the image. `rooms` NULL: each argument with a
 * margin, for calls that are not timed. `*report` says why there is no session where its status is
 * not OK; false is for the host. */
bool rig_start(struct gate *gate, struct rig *rig, size_t case_index, struct image image,
               enum dtype real, const size_t *rooms, struct session_report *report,
               struct err *err);
/* As rig_start for calls that are timed, and looked at. */
bool rig_start_watched(struct gate *gate, struct rig *rig, size_t case_index, struct image image,
                       const size_t *rooms, int64_t period_ns, struct session_report *report,
                       struct err *err);
/* The same for a shape that is no case of the task, and untimed. */
bool rig_start_at(struct gate *gate, struct rig *rig, const struct task_case *problem,
                  struct image image, enum dtype real, const size_t *rooms,
                  struct session_report *report, struct err *err);
/* Another shape in the same session, whose rooms must hold it. */
void rig_move(struct rig *rig, const struct task_case *problem);
void rig_stop(struct rig *rig);
/* Kills the child now; what is left of it rig_stop takes apart later. */
void rig_end(struct rig *rig);
/* What the spans hold now, under their key: who does not know it cannot change them unseen. */
uint64_t rig_hash_spans(const struct rig *rig);
/* The same in two steps: a child that waits in its box for an image of at most `image_room` bytes;
 * and the image. In between it may be offered the image, which it then loads meanwhile: from then
 * on it is that candidate's. */
bool rig_prepare(struct gate *gate, struct rig *rig, const struct task_case *problem,
                 enum dtype real, size_t image_room, const size_t *rooms, struct err *err);
bool rig_offer_image(struct rig *rig, struct image image, struct err *err);
bool rig_give_image(struct rig *rig, struct image image, struct session_report *report,
                    struct err *err);

/* Where the arguments of a call lie. */
enum placement { PLACE_HEAD, PLACE_TAIL, PLACE_SKEWED, PLACEMENT_COUNT };
const char *placement_name(enum placement placement);
struct session_call rig_place(struct gate *gate, const struct rig *rig, enum placement placement);

/* Inputs at their places, poison everywhere else, between the rows of what is not written too.
 * `places` are where each
 * room's poison begins. */
void rig_load(struct gate *gate, struct rig *rig, const struct session_call *call,
              void *const *inputs, enum distribution distribution, size_t places[TASK_MAX_ARGS]);

/* Where poison is that a call has changed. */
struct breach {
    size_t arg;
    enum { BREACH_BEFORE, BREACH_BEHIND, BREACH_BETWEEN } where; /* of the argument, or its rows */
    size_t bytes; /* from its nearer edge; between rows: the element */
};

/* Is the poison around every argument, and what lies between its rows, intact? `inputs`: what was
 * loaded. */
bool rig_guards_intact(const struct gate *gate, const struct rig *rig,
                       const struct session_call *call, void *const *inputs,
                       enum distribution distribution, const size_t places[TASK_MAX_ARGS],
                       struct breach *breach);

/* What lies between the rows of outputs is no result: NaN there, in integers 0, from now on. */
void rig_blank_gaps(const struct rig *rig, const struct session_call *call);

/* An argument in the parent's mapping. */
void *rig_arg(const struct rig *rig, const struct session_call *call, size_t arg);

/* --- rows.c ------------------------------------------------------------------------------- */

/* Poison between the rows of an argument that lies at `offset` in its room. */
void rows_poison(const struct data *data, enum poison kind, size_t place, size_t offset,
                 const struct task_rows *rows, size_t element, void *argument);
/* Is it still there? Where not, `*where` is the first element that differs. */
bool rows_intact(const struct data *data, enum poison kind, size_t place, size_t offset,
                 const struct task_rows *rows, size_t element, const void *argument, size_t *where);
/* The same of an argument that is updated in place. There numbers lie between the rows, those that
 * it held `before`: NaN and huge ones stay what they are whatever is added. */
bool rows_equal(const struct task_rows *rows, size_t element, const void *argument,
                const void *before, size_t *where);
/* NaN there, which no comparison counts; in integers 0. */
void rows_blank(const struct task_rows *rows, enum dtype dtype, void *argument);

/* --- staging.c ---------------------------------------------------------------------------- */

/* The parent's copy of what the rooms of a sample are to hold. Owned by the gate. */
struct staging {
    void *room[TASK_MAX_ARGS];
    size_t bytes[TASK_MAX_ARGS];
};

/* Makes it large enough; what it holds is then lost. */
void staging_fit(struct staging *staging, const size_t *rooms, size_t count);
void staging_free(struct staging *staging);
/* An argument of a call in it: where the call has it in its room. */
void *staging_arg(const struct staging *staging, const struct session_call *call, size_t arg);
/* Copies every set into the rooms, and drives it out of the caches, or leaves it there, as the ring
 * wants it. */
void staging_hand_over(const struct staging *staging, const struct ring *ring,
                       const struct rig *rig);

/* --- probe.c ------------------------------------------------------------------------------ */

/* Inputs with what the oracle and the baseline make of them. Owns its arrays. */
struct probe {
    size_t case_index; /* of an edge size: EDGE_CASE */
    const struct task_case *problem;
    enum distribution distribution;
    void *inputs[TASK_MAX_ARGS];             /* in and inout, in the task's dtypes */
    struct yardstick outputs[TASK_MAX_ARGS]; /* out and inout; others have count 0 */
    int64_t failures;                        /* candidates that it caught: such probes go first */
    int64_t draw_ns;                         /* what drawing it cost */
    int64_t judged_at;                       /* the gate's count of candidates when it was drawn */
    bool is_by_twin;                         /* the twin made the oracle's runs, and held */
    bool is_usable; /* false: the baseline is not finite there, so the input is not a valid one */
};

/* How far a timed output may be from the baseline's on the same input: the sum of both. */
struct timed_bound {
    bool is_exact;
    double relative; /* of the element */
    double absolute;
};

/* A child of the baseline that is kept between candidates; its session is NULL where there is none.
 */
struct warm_rig {
    struct rig rig;
    int64_t uses; /* since it was started */
};

/* What a call of an empty kernel takes, and for how many cases this still holds. */
struct empty_call {
    double ns;
    int64_t uses_left;
};

/* A case as the gate keeps it. */
struct case_state {
    struct probe probes[MAX_PROBES];
    size_t probe_count;
    struct timed_bound bounds[TASK_MAX_ARGS]; /* by the first probe */
    bool has_bounds;
    int64_t baseline_ns;
    int64_t first_draw_ns, next_draw_ns; /* of its first probe, and of one of the others */
    struct warm_rig timing[WARM_BASELINES];
    struct rig checking; /* the child of a check; before it, one that waits for its image */
};

enum probe_scope {
    PROBES_DECLARED, /* the declared distribution only */
    PROBES_FITTING,  /* as many as the memory allows */
    PROBES_ALL
};

/* Shapes at the edges of what the axes allow, tiny, each with one probe; and some of them once more
 * for the situations that the task declares under `special`. */
struct edges {
    struct task_case problems[MOST_SHAPES];
    struct probe probes[MOST_SHAPES];
    size_t count; /* of it the last `task.special_count` are for the declared situations */
    size_t rooms[TASK_MAX_ARGS]; /* that hold each of them, in doubles too */
};

/* edge.c: the value that an axis can have next to the wanted one. */
int64_t edge_allowed(const struct task_axis *axis, int64_t wanted);
/* A leading dimension is no less than its rows: those that are get a little more than that. */
void edge_make_room(struct gate *gate, int64_t *axes);
/* Chooses shapes: names are the arena's. */
void edges_choose(struct gate *gate, struct edges *edges);
/* Draws the probes of all edge sizes; refuses a reference that is not right there. */
bool edges_draw(struct gate *gate, struct edges *edges, struct err *err);

/* Draws the probes of a case anew; refuses a reference that crashes or is not finite. */
bool probes_draw(struct gate *gate, size_t case_index, enum probe_scope scope, struct probe *probes,
                 size_t *count, struct err *err);
void probes_free(struct probe *probes, size_t count);
/* Draws the oldest probes again, as far as the time that has been earned goes. */
bool probes_refresh(struct gate *gate, struct err *err);

/* --- null.c ------------------------------------------------------------------------------- */

/* ERR_BAD_INPUT where a null kernel would pass all probes of a case. */
bool null_battery(const struct gate *gate, const struct probe *probes, size_t count,
                  struct err *err);

/* --- the gate ----------------------------------------------------------------------------- */

struct record;

struct gate {
    struct target *target;
    const struct task *declared; /* what is compiled */
    const struct task *task;     /* its buffers: two arguments that share one are one here */
    struct gate_opts opts;
    struct arena arena;
    struct hash_id id;
    struct data *data;
    struct image baseline, oracle;
    struct image shadow; /* of a float64 task: the reference in float32 */
    /* opts.twin in both types, by how it is built; empty where it does not build. */
    struct image twins[TWIN_BUILDS], twin_oracles[TWIN_BUILDS];
    struct image empty; /* the task's entry point with an empty body */
    struct empty_call empty_call;
    struct staging staging;
    struct ahead *ahead;
    struct crew *crew; /* NULL: the gate works alone */
    struct hash_id baseline_code;
    struct case_state cases[TASK_MAX_CASES];
    struct edges edges;
    struct rig edge_checking; /* the child that checks them; before it, one that waits */
    enum distribution deck[DISTRIBUTION_COUNT]; /* those of choice, shuffled, dealt to the cases */
    size_t deck_count, deck_next;
    size_t special_turn;   /* of DISTRIBUTION_ONE_SPECIAL: from case to case another kind */
    int64_t judged;        /* candidates so far */
    int64_t redraw_credit; /* ns that may be spent on new probes */
    struct record *records;
    size_t record_count, record_capacity;
};

/* --- one judgement ------------------------------------------------------------------------ */

/* How precisely to time. */
struct timing_plan {
    int64_t budget_ns;   /* of one case */
    int64_t patience_ns; /* beyond it, where the interval is still wide then */
    int64_t block_pairs; /* of one process */
    int64_t max_pairs;
    int64_t warm_up_ns; /* at least, before the first pair of a case */
    bool has_cold;      /* times with cold caches too */
    double half_width;
};

struct judgement {
    struct gate *gate;
    struct arena *arena;
    struct verdict *out;
    struct image image;
    struct image rival;               /* what it is timed against; empty: the baseline */
    int64_t rival_ns[TASK_MAX_CASES]; /* its fastest_ns */
    struct rig reference;             /* a child of the baseline beside a rival; no session: none */
    bool rival_decided;               /* the verdict in `out` is about the rival */
    struct timing_plan plan;
    double race_log_ratio;
    const char *only_case; /* NULL: all */
    bool is_confirmation;
    bool is_decided; /* `out` holds its verdict; the rest is skipped */
    int64_t doubts;  /* doubtful ends of a child so far; MOST_DOUBTS are excused, more by samples */
    int64_t samples; /* timed pairs so far */
    uint32_t timed_probes[TASK_MAX_CASES]; /* bit i: probe i was dealt to a timed sample, of this */
    uint32_t timed_results[TASK_MAX_CASES]; /* deck; its outputs in one were verified, ever */
    bool is_exam;                           /* many pairs are for probes */
    int64_t fastest_ns[TASK_MAX_CASES + 1]; /* call of the candidate seen while checking */
    double error[TASK_MAX_CASES + 1];       /* worst, in units of the baseline's own */
    struct timed_bound bounds[TASK_MAX_CASES][TASK_MAX_ARGS];
};

/* --- watch.c --------------------------------------------------------------------------------- */

/* Of this name; where there is none that has probes, the one in which the baseline is slowest. */
size_t watch_case(const struct gate *gate, const char *name);
/* CPU time between samples of a run that takes about `run_ns`: so few that none is lost. */
int64_t watch_period_ns(int64_t run_ns);

/* --- gate.c: stages for contest.c ----------------------------------------------------------- */

/* Builds and checks; timing and conclusion. Either may decide. */
bool judgement_prepare(struct judgement *j, const struct candidate *candidate, struct err *err);
bool judgement_measure(struct judgement *j, struct err *err);
struct timing_plan timing_plan_for(const struct gate_opts *opts, bool confirms);

/* --- decide.c ------------------------------------------------------------------------------ */

/* Fills kind, mechanism and evidence and ends the judgement. Always true. */
bool decide(struct judgement *j, enum verdict_kind kind, const char *mechanism, const char *format,
            ...) __attribute__((format(printf, 4, 5)));
/* The verdict of a session that did not end well; `where` is put in front of its evidence. */
bool decide_session(struct judgement *j, const struct session_report *report, const char *where);
/* Is it work after the bell, which a busy host can feign? Only certain when it comes again in new
 * processes. */
bool session_is_doubtful(const struct session_report *report);
/* "y[12,3]" */
char *element_name(const struct task *task, const struct task_case *c, size_t arg, size_t index,
                   struct arena *arena);

/* --- plan.c ---------------------------------------------------------------------------------- */

/* What a judgement runs of a case. */
struct case_plan {
    uint32_t probes; /* bit i: probe i of the case */
    bool repeats;    /* the first one again at the end */
    unsigned turn;   /* the placement that is first */
};

/* For the cases of `order`: all that they have, or as much as fits the time, by lot. */
void plan_checks(struct judgement *j, const size_t *order, size_t count,
                 struct case_plan plans[TASK_MAX_CASES]);

/* Everything. */
struct case_plan plan_all(const struct gate *gate, size_t probe_count);

/* --- check.c -------------------------------------------------------------------------------- */

/* Children for the checks of the next candidate; those that the last one used are taken apart. By
 * any thread while no check runs. */
bool check_prepare(struct gate *gate, struct err *err);

/* --- ahead.c ------------------------------------------------------------------------------- */

/* check_prepare by a thread of the gate's own, while the caller builds. NULL where there is none:
 * ahead_finish then does it itself. */
struct ahead *ahead_open(struct gate *gate);
void ahead_start(struct ahead *ahead);
/* Waits for it; must come after ahead_start, whatever happened in between. */
bool ahead_finish(struct ahead *ahead, struct gate *gate, struct err *err);
/* Children that it made and that still run die with it. */
void ahead_close(struct ahead *ahead);

/* --- check.c, continued -------------------------------------------------------------------- */

/* The planned probes of a case in one fresh session. */
bool check_case(struct judgement *j, size_t case_index, struct probe *probes, size_t count,
                const struct case_plan *plan, struct err *err);

/* Lets those children that wait load the candidate, all at the same time. */
bool check_offer(struct judgement *j, struct err *err);

/* Ends what is left of them: a child that has been offered a candidate is for no other. */
void check_end(struct gate *gate);

/* Every edge size, all in one fresh session. */
bool check_edges(struct judgement *j, struct err *err);

/* --- timing.c ------------------------------------------------------------------------------- */

/* Where timing of a case may end early: `hopeless` ends the judgement's timing, `behind` only
 * makes more precision pointless. -INFINITY for none. */
struct race {
    double hopeless, behind;
};

/* Times one case into `*out`, where planned cold too; may end the judgement (a timed output is
 * wrong, too noisy, too fast).
 */
bool time_case(struct judgement *j, size_t case_index, struct race race, struct case_result *out,
               struct err *err);

/* --- empty.c -------------------------------------------------------------------------------- */

/* What one call of an empty kernel of this task takes in a timed sample, in ns: to be subtracted.
 * Measured now or a few cases ago; 0 where the host is too busy, which makes both sides slower
 * alike. */
bool empty_call_ns(struct judgement *j, size_t case_index, double *out, struct err *err);

/* --- bounds.c ------------------------------------------------------------------------------- */

/* What the baseline's errors on the declared inputs say about the outputs of timed calls. */
void timed_bounds(struct judgement *j, const struct probe *declared);

/* How far off from `base` a value may be, and is it within that? NaN and infinities are the same.
 */
double bound_allowance(const struct timed_bound *bound, double base);
bool bound_holds(const struct timed_bound *bound, double got, double base);

/* --- sample.c ------------------------------------------------------------------------------- */

/* The calls of a sample: each on its own set of arguments, one after the other in the rooms. */
struct ring {
    size_t sets;
    bool is_cold;                 /* in no cache when the bell rings, and called in random order */
    size_t stride[TASK_MAX_ARGS]; /* bytes from one set to the next */
    size_t room[TASK_MAX_ARGS];
    struct session_call calls[SESSION_MAX_CALLS];
};

/* For a baseline and a candidate whose calls take about so long. */
void ring_plan(struct gate *gate, size_t case_index, int64_t baseline_ns, int64_t candidate_ns,
               bool is_cold, struct ring *ring);

struct sample {
    int64_t baseline_ns, candidate_ns; /* of all calls of the sample */
    bool baseline_noisy, candidate_noisy;
    int processor;   /* -1: not pinned */
    bool is_check;   /* too much was changed at the last moment for its times to count */
    char noise[128]; /* why, in words */
    bool is_lost;    /* one of the children is dead, and the host may be the cause */
};

/* The candidate alone on new data, for nothing but to be warm: it is not verified, and its time
 * says nothing. */
bool sample_warm_up(struct judgement *j, size_t case_index, struct rig *candidate,
                    const struct ring *ring, struct sample *out, struct err *err);

/* Has the case probes that were in no verified sample yet, and are its calls quick enough? */
bool sample_owes_probes(const struct judgement *j, size_t case_index, const struct ring *ring);

/* New data for both, baseline and candidate in the given order, then the candidate's outputs
 * verified against the baseline's while it is frozen (M5, M6, M7, M8). */
bool sample_pair(struct judgement *j, size_t case_index, struct rig *baseline,
                 struct rig *candidate, const struct ring *ring, bool baseline_first,
                 struct sample *out, struct err *err);

/* --- roofline.c ------------------------------------------------------------------------------- */

/* The least time that the machine's rates allow for a call, as a share of this one; 0 where they
 * are unknown. */
double roofline_share(const struct gate *gate, size_t case_index, int64_t time_ns);
/* A time far enough under that floor ends the judgement (M14). */
bool roofline_check(struct judgement *j, size_t case_index, int64_t time_ns);

/* --- record.c ----------------------------------------------------------------------------------
 */

/* What is known of the code, by somebody who has this best to beat (-INFINITY: none); NULL. */
const struct verdict *record_find(const struct gate *gate, const struct hash_id *code_id,
                                  double race_log_ratio);
/* Keeps what lasts, and that a race against this best was lost. */
void record_add(struct gate *gate, const struct verdict *verdict, double race_log_ratio);
void records_free(struct gate *gate);

#endif
