import type { ListedSession, SignedInPeople } from '../../extensions/extension.ts'
import { invalidRequest, WireError } from '../../formats/error.ts'
import { readBodyBy } from '../../formats/parse-json-object.ts'
import type { Logger } from '../../observe/log.ts'
import { callerOf } from '../../people/caller-of.ts'
import { hasName, type Person } from '../../people/person.ts'
import { objectShape } from '../../shapes/containers.ts'
import { flagShape, textShape } from '../../shapes/shape.ts'
import { readControlBody, type BodyTimes } from '../entrance/read-body.ts'
import type { HandlerContext } from '../handler-context.ts'
import { jsonResponse } from '../json-response.ts'
import type { Route } from '../route.ts'
import { checkOwner, type OwnerCheck } from './owner-check.ts'
import type { AdmissionAnswer, AdmissionChange, PeopleAnswer, SignedInEntry } from './page-api.ts'

const bodyBytesMax = 4_096
const name = (allowed: string, lengthMax = 256) => textShape({ allowed, pattern: /^[^\0-\x1f\x7f]+$/, lengthMax })
/** Whose sessions are to end. */
export const endedUser = name('a user name or id:VALUE')
const endShape = objectShape({ session: name('the id of a session', 64), user: endedUser }, { isOpen: true })
const admissionShape = objectShape(
  {
    user: name('a user name'),
    userId: name('the id of the user'),
    mayEnter: flagShape,
    version: textShape({ allowed: 'the fingerprint of the file', pattern: /^/, lengthMax: 128 }),
  },
  { isOpen: true, required: ['user', 'userId', 'mayEnter'] },
)

export interface PeopleApiOptions {
  /** `undefined` without sign-in. */
  readonly people: () => SignedInPeople | undefined
  readonly isOwner: OwnerCheck
  /** Without, every person is an owner. */
  readonly hasNamedOwners: () => boolean
  /** Whether a person is an owner. */
  readonly mayOwn: (person: Person) => boolean
  /** Names of the teams that a person is in. */
  readonly teamsOf: (person: Person) => readonly string[]
  /** @throws {WireError} */
  readonly admit: (change: AdmissionChange, by: string | undefined) => Promise<AdmissionAnswer>
  readonly bodyTimes: BodyTimes
  readonly log: Pick<Logger, 'info'>
}

/** `/api/people`: owners see who is signed in, end sessions, and change who may sign in (docs/sign-in.md). */
export function peopleApi(options: PeopleApiOptions): readonly Route[] {
  const { isOwner, admit, bodyTimes, log } = options

  function peopleFor(context: HandlerContext): SignedInPeople {
    checkOwner(isOwner, context)
    const people = options.people()
    if (people !== undefined) return people
    throw new WireError(404, 'invalid_request_error', 'no_sign_in', 'The service runs without sign-in')
  }

  function checkNamedOwners(): void {
    if (options.hasNamedOwners()) return
    const message = 'Everyone is an owner here: name the owners first, such as "owners": ["ada"] in providers.json'
    throw new WireError(409, 'invalid_request_error', 'no_owners', message)
  }

  async function list(context: HandlerContext): Promise<Response> {
    const people = peopleFor(context)
    checkNamedOwners()
    const [sessions, refused] = await Promise.all([people.sessions(context.request), people.refused()])
    const answer: PeopleAnswer = {
      provider: people.provider,
      people: entriesOf(sessions, options),
      refused,
      hasList: people.admission.isOn,
    }
    return jsonResponse(answer, context.id)
  }

  async function end(context: HandlerContext): Promise<Response> {
    const people = peopleFor(context)
    const body = await readControlBody(context.request, { bytesMax: bodyBytesMax, ...bodyTimes })
    const { session, user } = readBodyBy(body, endShape)
    if ((session === undefined) === (user === undefined))
      throw invalidRequest('invalid_value', "Either 'session' or 'user' must be there.", 'session')
    const one = session === undefined ? undefined : await people.end(session)
    const ended = user === undefined ? Number(one !== undefined) : await people.endAll(user)
    const whose = user ?? one?.visitor.user
    const by = context.caller.name
    log.info('sessions ended by an owner', {
      ...{ request: context.id, sessions: ended },
      ...(whose === undefined ? {} : { user: whose }),
      ...(by === undefined ? {} : { by }),
    })
    return jsonResponse({ ended }, context.id)
  }

  async function admission(context: HandlerContext): Promise<Response> {
    peopleFor(context)
    checkNamedOwners()
    const body = await readControlBody(context.request, { bytesMax: bodyBytesMax, ...bodyTimes })
    const { mayEnter, ...change } = readBodyBy(body, admissionShape)
    const { person, name: by } = context.caller
    if (!mayEnter && person !== undefined && (person.accountId === change.userId || hasName(person, change.user)))
      throw new WireError(409, 'invalid_request_error', 'own_access', 'Another owner must block you')
    return jsonResponse(await admit({ ...change, mayEnter }, by), context.id)
  }

  return [
    { method: 'GET', path: '/api/people', isPublic: false, handle: list },
    { method: 'POST', path: '/api/people/end', isPublic: false, body: endShape, handle: end },
    { method: 'POST', path: '/api/people/admission', isPublic: false, body: admissionShape, handle: admission },
  ]
}

/** Sessions by their people. The sessions come newest first, and so do the people. */
function entriesOf(
  sessions: readonly ListedSession[],
  { mayOwn, teamsOf }: Pick<PeopleApiOptions, 'mayOwn' | 'teamsOf'>,
): readonly SignedInEntry[] {
  const people = Map.groupBy(sessions, ({ visitor }) => visitor.subject ?? visitor.user)
  return Array.from(people.values(), (own) => {
    const [{ visitor } = { visitor: { user: '' } }] = own
    const { person, profile } = callerOf(visitor)
    return {
      userId: person.accountId ?? '',
      userName: person.name,
      displayName: profile?.displayName ?? person.name,
      avatarUrl: profile?.avatarUrl ?? '',
      isOwner: mayOwn(person),
      teams: teamsOf(person),
      sessions: own.map(({ visitor: _, ...session }) => session),
    }
  })
}
