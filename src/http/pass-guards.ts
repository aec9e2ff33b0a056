import type { Contribution, RequestContext } from '../extensions/extension.ts'
import { WireError } from '../formats/error.ts'
import { callerOf } from '../people/caller-of.ts'
import { anonymous, type Caller } from '../people/person.ts'
import type { HandlerContext } from './handler-context.ts'

/** Identifies the caller of a request. @throws {WireError} when the request may not pass */
export type Guard = (visit: RequestContext) => Admitted

type Admitted = Caller | undefined | Promise<Caller | undefined>

/**
 * The guards of extensions, in their order. If extensions recognise callers, one guard does both: a recognised caller
 * skips the guards, and without any guard all others are refused.
 */
export function guardsOf(contributions: readonly Contribution[]): readonly Guard[] {
  const guards = contributions.flatMap(({ guard }) => guard ?? [])
  const recognisers = contributions.flatMap(({ recognise }) => recognise ?? [])
  const listeners = contributions.flatMap(({ onEntry }) => onEntry ?? [])
  // Sign-in recognises agents of people, and says itself what a request lacks.
  const hasKeys = contributions.some(({ guard, recognise }) => guard === undefined && recognise !== undefined)
  if (recognisers.length > 0) return [recognisedOrGuarded(recognisers, guards, { listeners, hasKeys })]
  return guards.map((guard) => async (visit) => {
    const visitor = await guard(visit)
    return visitor && callerOf(visitor)
  })
}

function recognisedOrGuarded(
  recognisers: readonly Guard[],
  guards: readonly NonNullable<Contribution['guard']>[],
  {
    listeners,
    hasKeys,
  }: { readonly listeners: readonly NonNullable<Contribution['onEntry']>[]; readonly hasKeys: boolean },
): Guard {
  /** Most callers are found in memory, by the first recogniser. @param from place of the first recogniser to ask */
  function admit(visit: RequestContext, from = 0): Admitted {
    for (let place = from; place < recognisers.length; place += 1) {
      const found = recognisers[place]?.(visit)
      if (found instanceof Promise) return found.then((caller) => caller ?? admit(visit, place + 1))
      if (found !== undefined) return found
    }
    return guarded(visit)
  }

  async function guarded(visit: RequestContext): Promise<Caller | undefined> {
    if (guards.length === 0) throw authenticationRequired()
    const visitor = await passAll(guards, visit).catch((error: unknown) => {
      throw hasKeys && isWithoutCredential(error) ? authenticationRequired(error.advice) : error
    })
    if (visitor === undefined) return undefined
    const caller = callerOf(visitor)
    for (const onEntry of listeners) await onEntry(caller.person)
    return caller
  }
  return (visit) => admit(visit)
}

/**
 * Asks the guards in turn. A request must pass all of them; the last guard that names a caller decides. A promise
 * unless one guard knows the caller at once.
 *
 * @throws errors of the guards
 */
export function passGuards(guards: readonly Guard[], context: VisitContext): Caller | Promise<Caller> {
  const [only] = guards
  const visit = new Visit(context)
  const passed = only !== undefined && guards.length === 1 ? only(visit) : passAll(guards, visit)
  return passed instanceof Promise ? passed.then((caller) => caller ?? anonymous) : (passed ?? anonymous)
}

type VisitContext = Pick<HandlerContext, 'request' | 'path' | 'id' | 'address'>

/** A class: each request has one. */
class Visit implements RequestContext {
  readonly request: Request
  readonly path: string
  readonly id: string
  readonly #context: VisitContext

  constructor(context: VisitContext) {
    this.request = context.request
    this.path = context.path
    this.id = context.id
    this.#context = context
  }

  get address(): string {
    return this.#context.address()
  }
}

/** The result of the last guard that names a user. @throws errors of the guards */
async function passAll<Found>(
  guards: readonly ((visit: RequestContext) => Found | undefined | Promise<Found | undefined>)[],
  visit: RequestContext,
): Promise<Found | undefined> {
  let passed: Found | undefined
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
