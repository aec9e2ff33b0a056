import type { Contribution, RequestContext, Visitor } from '../extensions/extension.ts'
import { WireError } from '../formats/error.ts'
import type { HandlerContext } from './handler-context.ts'

/** Identifies the visitor of a request. @throws {WireError} when the request may not pass */
export type Guard = NonNullable<Contribution['guard']>

/**
 * The guards of extensions, in their order. If extensions recognise visitors, one guard does both: a recognised visitor
 * skips the guards, and without any guard all others are refused.
 */
export function guardsOf(contributions: readonly Contribution[]): readonly Guard[] {
  const guards = contributions.flatMap(({ guard }) => guard ?? [])
  const recognisers = contributions.flatMap(({ recognise }) => recognise ?? [])
  const listeners = contributions.flatMap(({ onEntry }) => onEntry ?? [])
  return recognisers.length === 0 ? guards : [recognisedOrGuarded(recognisers, guards, listeners)]
}

function recognisedOrGuarded(
  recognisers: readonly NonNullable<Contribution['recognise']>[],
  guards: readonly Guard[],
  listeners: readonly NonNullable<Contribution['onEntry']>[],
): Guard {
  return async function admit(visit) {
    for (const recognise of recognisers) {
      const found = recognise(visit)
      // Most are found in memory: no turn of the event loop is spent on them.
      const visitor = found instanceof Promise ? await found : found
      if (visitor !== undefined) return visitor
    }
    if (guards.length === 0) throw authenticationRequired()
    const visitor = await passAll(guards, visit).catch((error: unknown) => {
      throw isWithoutCredential(error) ? authenticationRequired(error.advice) : error
    })
    if (visitor !== undefined) for (const onEntry of listeners) await onEntry(visitor)
    return visitor
  }
}

/**
 * Asks the guards in turn. A request must pass all of them; the last guard that names a visitor decides.
 *
 * @throws errors of the guards
 */
export async function passGuards(
  guards: readonly Guard[],
  context: Pick<HandlerContext, 'request' | 'path' | 'id' | 'address'>,
): Promise<Partial<Visitor>> {
  const { request, path, id } = context
  const visit: RequestContext = {
    request,
    path,
    id,
    get address() {
      return context.address()
    },
  }
  const visitor = await passAll(guards, visit)
  return visitor === undefined ? {} : withSubject(visitor)
}

/** Keys of people know them by the id of the profile, too. */
function withSubject(visitor: Visitor): Visitor {
  const { subject, profile } = visitor
  return subject === undefined && profile !== undefined ? { ...visitor, subject: profile.id } : visitor
}

async function passAll(guards: readonly Guard[], visit: RequestContext): Promise<Visitor | undefined> {
  const [only] = guards
  if (only !== undefined && guards.length === 1) return only(visit)
  let passed: Visitor | undefined
  for (const guard of guards) passed = (await guard(visit)) ?? passed
  return passed
}

/** A program reads in the answer how it sends a key, also where people sign in. */
function isWithoutCredential(error: unknown): error is WireError {
  return error instanceof WireError && error.code === 'authentication_required'
}

function authenticationRequired(advice = 'Programs need a key; see docs/keys.md.'): WireError {
  return new WireError(
    401,
    'authentication_error',
    'authentication_required',
    'Authentication required: send a key of this service in Authorization: Bearer, x-api-key or x-goog-api-key',
    { headers: { 'www-authenticate': 'Bearer realm="svc"' }, advice },
  )
}
