/*
 * Estimates that borrow strength: groups within groups, as "this move: in this family: on such
 * shapes: on this task". What is known of a group is what was seen in it, drawn towards its parent
 * by as much as groups of that level differ, and that is learned from the groups themselves.
 *
 * Model: every mean of observations is normal around the truth of its group with a known variance;
 * the truth of a group is normal around that of its parent with the variance `between` of its
 * level (the normal-normal hierarchy of Gelman et al., Bayesian Data Analysis, 3rd edition, 5.4,
 * with more levels). Given the variances the posterior is exact, by passing messages along the
 * tree. The variances are estimated by moments (DerSimonian and Laird, "Meta-analysis in clinical
 * trials", Controlled Clinical Trials 7, 1986), pooled over the parents of a level, and shrunk
 * themselves towards a prior, since a few groups tell little about how much groups differ. Pure
 * functions; nothing is owned. Threads: any.
 */
#ifndef KOPE_STATS_HIERARCHY_H
#define KOPE_STATS_HIERARCHY_H

#include <stdbool.h>
#include <stddef.h>

struct stats_normal {
    double mean, variance; /* INFINITY: nothing is known */
};

enum { STATS_MAX_LEVELS = 6 };

/* A forest: parents stand before their children, a root is its own parent. */
struct stats_group {
    size_t parent;
    double precision,
        weighted;   /* sums of 1 / variance and mean / variance of what was seen in it */
    double between; /* variance around its parent; of a root unused */
    /* Filled by stats_groups_fit: all that was seen in it and beneath. */
    double below_precision, below_weighted;
    size_t level, root;
    double work[8]; /* of stats_groups_fit */
};

/* Adds the mean of some observations, or a prior, to a group; a variance that is not positive and
 * finite adds nothing. */
void stats_group_see(struct stats_group *group, double mean, double variance);

/* The variance that a level has before any data, and how many groups that guess is worth. */
struct stats_between {
    double prior, prior_count;
    double learned; /* filled: pooled over the forest */
    size_t count;   /* filled: groups beyond the first of their parent, which it was learned from */
};

/* Learns the variances, level by level from the leaves up, and passes the messages up. `levels[l]`
 * is of the groups l + 1 steps under a root. Each tree has variances of its own, drawn towards the
 * forest's: where one tree's groups contradict each other, its posteriors widen and others' do
 * not. More levels than `level_count` are a bug. */
void stats_groups_fit(struct stats_group *groups, size_t count, struct stats_between *levels,
                      size_t level_count);

/* As stats_group_see, after stats_groups_fit: for what is no measurement, and must not teach how
 * much groups differ. */
void stats_group_add(struct stats_group *groups, size_t at, double mean, double variance);

/* The posterior of a group after stats_groups_fit. */
struct stats_normal stats_group_posterior(const struct stats_group *groups, size_t at);
/* The posterior of a group of which nothing was seen, a child of `parent`. */
struct stats_normal stats_group_unseen(const struct stats_group *groups, size_t parent,
                                       double between);

/*
 * The variance per unit of distance, from pairs that should be equal but for it: pair i differs by
 * `differences[i]`, of which `variances[i]` is noise, at distance `distances[i]` > 0. Weighted
 * least squares through the origin of (difference^2 - variance) on distance^2 (the method of
 * moments that a variogram is fitted by: Cressie, Statistics for Spatial Data, 1993, 2.6), never
 * below 0, with a prior worth `prior_count` pairs.
 */
double stats_distance_variance(const double *differences, const double *variances,
                               const double *distances, size_t count, double prior,
                               double prior_count);

/* E[max(X, 0)] of a normal X: what an option is worth that need not be taken. */
double stats_expected_gain(double mean, double sd);

#endif
