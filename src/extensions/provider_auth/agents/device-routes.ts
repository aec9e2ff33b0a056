import { createHmac } from 'node:crypto'
import type { ClientAddresses } from '../../../base/client-address.ts'
import { isRecord } from '../../../base/json-value.ts'
import { personIdAt } from '../../../base/person-entry.ts'
import { WireError } from '../../../formats/error.ts'
import type { Limit, Store, StoreOptions } from '../../../stores/store.ts'
import type { ExtensionLog, ExtensionRoute, RouteContext } from '../../extension.ts'
import type { Credential, Credentials } from '../session/credentials.ts'
import { crossSiteCookie } from '../session/guard.ts'
import { areEqualHashes, hashOf } from '../session/random-token.ts'
import type { Session } from '../session/sessions.ts'
import type { DeviceFlows, DeviceRequest } from './device-flows.ts'
import { codePage, confirmPage, decidedPage, signInPage } from './device-page.ts'
import type { Families, AgentFamily } from './families.ts'
import { readOAuthForm } from './oauth-answers.ts'
import { devicePath } from './token-routes.ts'
import { parseUserCode } from './user-code.ts'

const wrongMax = 10
const wrongWithinMs = 600_000
const closedMs = 3_600_000
/** A person who lets in an agent of another network must have signed in within this time. */
const freshMs = 600_000
/** Codes that a person may enter in a minute. */
export const entriesPerMinute = 10

/** Wrong codes that a person entered. */
export interface WrongCodes {
  readonly count: number
  /** When the first was entered; Unix milliseconds. */
  readonly since: number
}

export const wrongCodeOptions: StoreOptions<WrongCodes> = {
  ttlMs: closedMs,
  valuesMax: 20_000,
  valuesPerOwnerMax: 1,
  parse(value) {
    if (!isRecord(value)) return undefined
    const { count, since } = value
    return typeof count === 'number' && typeof since === 'number' ? { count, since } : undefined
  },
}

export interface DeviceRoutesOptions {
  readonly flows: DeviceFlows
  readonly families: Families
  readonly credentials: Credentials
  readonly wrongCodes: Store<WrongCodes>
  readonly entries: Limit
  readonly origin: string
  readonly realm: string
  readonly days: number
  readonly clients: ClientAddresses
  /** When agents were last used, by their keys. */
  readonly lastUse: (key: string) => Promise<number | undefined>
  now(): number
  readonly log: ExtensionLog
}

type SignedIn = Extract<Credential, { kind: 'valid' }>

/**
 * `/device`: a signed-in person enters the code of an agent, sees what asks, and lets it in or denies it; and sees and
 * ends their agents. Nothing happens by GET. A form must come from this origin, with the proof that its page was made
 * for this session and this code.
 */
export function deviceRoutes(options: DeviceRoutesOptions): readonly ExtensionRoute[] {
  const page = new DevicePages(options)
  return [
    { method: 'GET', path: devicePath, handle: (context) => page.show(context) },
    { method: 'POST', path: devicePath, handle: (context) => page.act(context) },
  ]
}

class DevicePages {
  readonly #options: DeviceRoutesOptions

  constructor(options: DeviceRoutesOptions) {
    this.#options = options
  }

  async show({ request }: RouteContext): Promise<Response> {
    const userCode = parseUserCode(new URL(request.url).searchParams.get('user_code') ?? '')
    const credential = await this.#options.credentials.find(request)
    return credential.kind === 'valid' ? await this.#ask(credential, { userCode }) : signInPage(userCode)
  }

  async act(context: RouteContext): Promise<Response> {
    const { request } = context
    if (!this.#isFromThisPage(request)) throw crossSiteCookie()
    const form = await readOAuthForm(context)
    if (form === undefined)
      throw new WireError(415, 'invalid_request_error', 'unsupported_media_type', 'The body must be a form')
    const credential = await this.#options.credentials.find(request)
    if (credential.kind !== 'valid') return signInPage(undefined)
    const text = (name: string): string => form.get(name) ?? ''
    const userCode = parseUserCode(text('user_code'))
    const action = text('action')
    const subject = action === 'end' ? text('agent') : action === 'look' ? '' : (userCode ?? '')
    if (!areEqualHashes(text('state'), stateOf(credential, action, subject))) throw staleForm()
    if (action === 'look') return await this.#look(credential, userCode, context)
    if (action === 'end') return await this.#end(credential, subject)
    return await this.#decide(credential, userCode ?? '', action === 'approve', context)
  }

  /** Browsers send one of the two headers with a form. A program that sends neither has no use for this page. */
  #isFromThisPage({ headers }: Request): boolean {
    const site = headers.get('sec-fetch-site')
    return site === null ? headers.get('origin') === this.#options.origin : site === 'same-origin'
  }

  async #ask(
    credential: SignedIn,
    more: { readonly userCode?: string | undefined; readonly problem?: string; readonly status?: number },
  ): Promise<Response> {
    const { session } = credential
    const { families, realm, lastUse } = this.#options
    const own = (await families.list()).filter(({ value }) => isOf(value, session, realm))
    const agents = own.map(async ({ key, value }) => ({
      id: key,
      ...{ agent: value.agent, from: value.from, made: shownTime(value.made), ends: shownTime(families.endOf(value)) },
      used: shownTime(await lastUse(key)),
      state: stateOf(credential, 'end', key),
    }))
    return codePage({
      ...{ user: nameOf(session), userCode: undefined, state: stateOf(credential, 'look', ''), ...more },
      agents: await Promise.all(agents),
    })
  }

  async #look(credential: SignedIn, userCode: string | undefined, context: RouteContext): Promise<Response> {
    const { flows, realm, clients, now, days, entries, log } = this.#options
    const { session } = credential
    const holder = personIdAt(realm, session.userId)
    const isTooFast = (await entries.take(holder)) !== undefined
    if (isTooFast || (await this.#isClosed(holder))) {
      log.warn('codes of agents are refused: too many were wrong', { request: context.id, user: session.userName })
      const problem = 'Too many codes. Try again in an hour.'
      return await this.#ask(credential, { problem, status: 429 })
    }
    const found = userCode === undefined ? undefined : await flows.look(userCode, holder)
    if (found === undefined || userCode === undefined) {
      await this.#noteWrong(holder)
      const problem = 'This code is not valid: it is mistyped, used or older than ten minutes.'
      return await this.#ask(credential, { problem, status: 400 })
    }
    const isFromElsewhere = found.client !== clients.keyOf(context)
    return confirmPage({
      ...{ user: nameOf(session), userCode, agent: found.agent, from: found.from, days, isFromElsewhere },
      secondsAgo: Math.max(0, Math.round((now() - found.made) / 1000)),
      needsSignIn: isFromElsewhere && !this.#isFresh(session),
      // Of both buttons: an approval and a denial are as hard to forge.
      state: stateOf(credential, 'decide', userCode),
    })
  }

  async #decide(credential: SignedIn, userCode: string, isApproved: boolean, context: RouteContext): Promise<Response> {
    const { flows, realm, log, clients } = this.#options
    const { session } = credential
    const { userId, userName, displayName, email } = session
    const holder = personIdAt(realm, userId)
    const isAllowed = ({ client }: DeviceRequest): boolean =>
      !isApproved || client === clients.keyOf(context) || this.#isFresh(session)
    const seen = await flows.look(userCode, holder)
    if (seen !== undefined && !isAllowed(seen)) {
      const problem = 'The agent is in another network: sign in again first.'
      return await this.#ask(credential, { userCode, problem, status: 403 })
    }
    const found = await flows.decide(userCode, holder, ({ agent, from }) =>
      isApproved ? { kind: 'approved', agent, from, userId, userName, displayName, email } : { kind: 'denied' },
    )
    if (found === undefined) {
      const problem = 'This code is not valid any more.'
      return await this.#ask(credential, { problem, status: 400 })
    }
    const { agent, from } = found
    const message = isApproved ? 'an agent was let in' : 'an agent was denied'
    log.info(message, { request: context.id, user: userName, id: userId, agent, from })
    return decidedPage(agent, isApproved)
  }

  async #end(credential: SignedIn, key: string): Promise<Response> {
    const { families, realm, log } = this.#options
    const { session } = credential
    const ended = await families.endWhere((family, own) => own === key && isOf(family, session, realm))
    for (const { agent } of ended) log.info('an agent was signed out', { user: session.userName, agent })
    return await this.#ask(credential, {})
  }

  #isFresh({ created }: Session): boolean {
    return this.#options.now() - created * 1000 <= freshMs
  }

  async #isClosed(holder: string): Promise<boolean> {
    return ((await this.#options.wrongCodes.get(holder))?.count ?? 0) >= wrongMax
  }

  /** The entry that closes the page is the last to be stored, so the store forgets it an hour later. */
  async #noteWrong(holder: string): Promise<void> {
    const { wrongCodes, now } = this.#options
    const before = await wrongCodes.get(holder)
    const isRecent = before !== undefined && now() - before.since <= wrongWithinMs
    await wrongCodes.set(holder, isRecent ? { ...before, count: before.count + 1 } : { count: 1, since: now() }, holder)
  }
}

function isOf(family: AgentFamily, { userId }: Session, realm: string): boolean {
  return family.realm === realm && family.userId === userId
}

/** The proof that a page of this session made a form. */
function stateOf({ token }: SignedIn, action: string, subject: string): string {
  const purpose = action === 'approve' || action === 'deny' ? 'decide' : action
  return hashOf(createHmac('sha256', token).update(`device ${purpose} ${subject}`).digest('base64url'))
}

function staleForm(): WireError {
  return new WireError(403, 'permission_error', 'stale_form', 'This form is not of your present session', {
    advice: 'Open the page anew and enter the code there.',
    wayOn: { path: devicePath, text: 'Let an agent in' },
  })
}

function nameOf({ userName, displayName }: Session): string {
  return displayName === userName || displayName === '' ? userName : `${displayName} (${userName})`
}

function shownTime(time: number | undefined): string {
  return time === undefined ? 'never' : `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
