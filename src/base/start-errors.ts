/** The command line, or an environment variable in place of a flag, has an invalid value. Exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/**
 * The port or the server of the store is not available; a later start may succeed. Exit code 1. The message says what
 * to do.
 */
export class ResourceUnavailable extends Error {
  override readonly name = 'ResourceUnavailable'
}
