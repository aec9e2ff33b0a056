/**
 * The whole request's time is up, over all attempts (failover.md, timers, "whole request"). The attempt under way is
 * not blamed for it.
 */
export class TimeUp extends Error {
  override readonly name = 'TimeUp'
}
