/**
 * From which revision on it is noted in which commit of a job a request is told of (`asked`). What follows an earlier one is looked
 * through: so few commits are read as quickly as they are found, and most jobs never have more. A note for each request of
 * a job that fails once was a fifth of what the database had to do for it.
 */
export const ASKED_FROM = 16
