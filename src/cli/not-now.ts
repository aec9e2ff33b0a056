/**
 * What a command needs cannot be had now, and may be later: a port, the server of the store. Exit code 1. Its message
 * says what to do.
 */
export class NotNow extends Error {
  override readonly name = 'NotNow'
}
