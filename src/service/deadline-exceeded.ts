/**
 * The deadline of the whole request has passed, over all attempts (failover.md, timers, "whole request"). It does not
 * count against the upstream of the current attempt.
 */
export class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded'
}
