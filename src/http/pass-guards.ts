import type { Contribution, RequestContext, Visitor } from '../extensions/extension.ts'
import { WireError } from '../formats/error.ts'
import type { HandlerContext } from './handler-context.ts'

/** Identifies the visitor of a request. @throws {WireError} when the request may not pass */
export type Guard = (visit: RequestContext) => Admitted

type Admitted = Visitor | undefined | Promise<Visitor | undefined>

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
  /** Most visitors are found in memory, by the first recogniser. @param from place of the first recogniser to ask */
  function admit(visit: RequestContext, from = 0): Admitted {
    for (let place = from; place < recognisers.length; place += 1) {
      const found = recognisers[place]?.(visit)
      if (found instanceof Promise) return found.then((visitor) => visitor ?? admit(visit, place + 1))
      if (found !== undefined) return found
    }
    return guarded(visit)
  }

  async function guarded(visit: RequestContext): Promise<Visitor | undefined> {
    if (guards.length === 0) throw authenticationRequired()
    const visitor = await passAll(guards, visit).catch((error: unknown) => {
      throw isWithoutCredential(error) ? authenticationRequired(error.advice) : error
    })
    if (visitor !== undefined) for (const onEntry of listeners) await onEntry(visitor)
    return visitor
  }
  return (visit) => admit(visit)
}

/**
 * Asks the guards in turn. A request must pass all of them; the last guard that names a visitor decides. A promise
 * unless one guard knows the visitor at once.
 *
 * @throws errors of the guards
 */
export function passGuards(
  guards: readonly Guard[],
  context: VisitContext,
): Partial<Visitor> | Promise<Partial<Visitor>> {
  const [only] = guards
  const visit = new Visit(context)
  const passed = only !== undefined && guards.length === 1 ? only(visit) : passAll(guards, visit)
  return passed instanceof Promise ? passed.then(identified) : identified(passed)
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

const unknown: Partial<Visitor> = {}

function identified(visitor: Visitor | undefined): Partial<Visitor> {
  return visitor === undefined ? unknown : withSubject(visitor)
}

/** Keys of people know them by the id of the profile, too. */
function withSubject(visitor: Visitor): Visitor {
  const { subject, profile } = visitor
  return subject === undefined && profile !== undefined ? { ...visitor, subject: profile.id } : visitor
}

async function passAll(guards: readonly Guard[], visit: RequestContext): Promise<Visitor | undefined> {
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
