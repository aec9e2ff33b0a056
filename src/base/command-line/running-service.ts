import { UsageError } from '../start-errors.ts'
import { show } from './arguments.ts'
import type { CommandContext } from './command.ts'

/** A running service answered with a status other than 200. */
export class ServiceRefusal extends Error {
  override readonly name = 'ServiceRefusal'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** The address of a running service, which may be written with `/v1`, without it and without a slash at the end. */
export function serviceRoot(url: string): string {
  return url.replace(/\/+$/, '').replace(/\/v1$/, '')
}

/**
 * Reads a session token or a key from `SVC_TOKEN`. It is no flag, since other users of the machine can see flags.
 *
 * @returns undefined if the variable is not set
 * @throws {UsageError} if the text cannot be a token
 */
export function sessionToken(environment: CommandContext['environment'], advice: string): string | undefined {
  const token = environment['SVC_TOKEN']?.trim() ?? ''
  if (token === '') return undefined
  if (!/^[\x21-\x7e]+$/.test(token)) throw new UsageError(`SVC_TOKEN is not a valid token: ${advice}`)
  return token
}

/** Checks the value of `--url`. @throws {UsageError} */
export function serviceUrl(url: string): string {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url))
    throw new UsageError(`--url: found ${show(url)}, allowed: an http or https URL`)
  return url
}

/** The message of an error in the shape of docs/errors.md. */
export function errorMessage(value: unknown): string | undefined {
  const message = member(member(value, 'error'), 'message')
  return typeof message === 'string' ? message : undefined
}

/** An own member of an object; `undefined` for other values. */
export function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  return Object.getOwnPropertyDescriptor(value, name)?.value
}

/** Parses JSON; `undefined` for other bytes, which are not from the service. */
export function tryParseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    // Not from the service: callers find no members in `undefined`.
    return undefined
  }
}
