import type { ClientAddresses } from '../../../base/client-address.ts'
import { personIdAt } from '../../../base/person-entry.ts'
import type { Access } from '../../../formats/access.ts'
import { WireError } from '../../../formats/error.ts'
import type { Caller } from '../../../people/person.ts'
import type { ExtensionRoute, Host, RequestContext } from '../../extension.ts'
import { withStore } from '../responses.ts'
import type { Credentials } from '../session/credentials.ts'
import { hashOf } from '../session/random-token.ts'
import { sessionCache } from '../session/session-cache.ts'
import { noteUses, type AgentSessions } from '../session/signed-in-people.ts'
import { nameKey, parsePerson } from '../settings/restrict-to.ts'
import type { Settings } from '../settings/settings.ts'
import { sentAccessToken } from './agent-token.ts'
import { DeviceFlows, deviceStores } from './device-flows.ts'
import { deviceRoutes, entriesPerMinute, wrongCodeOptions } from './device-routes.ts'
import { Families, familyStores, ownerOfAccess, type AgentAccess } from './families.ts'
import { pollsPerMinute, startsPerMinute, tokenRoutes, tokensPerMinute } from './token-routes.ts'

/*
 * Sign-in of agents (docs/agents.md), on with `"agents": true`. A program asks for a flow (`token-routes.ts`,
 * `device-flows.ts`), a signed-in person lets it in at `/device` (`device-routes.ts`), and the program gets tokens
 * (`families.ts`), which `recogniseAgent` admits to models, and to nothing else. Each use asks the live allow-list.
 */

export interface AgentsOptions {
  readonly host: Host
  readonly settings: Pick<Settings, 'restrictTo' | 'hasCaselessNames' | 'hasAgents' | 'agentDays'>
  /** Origin of `redirect_uri`. Without it, and unless the settings have agents, there is no part. */
  readonly origin: string | undefined
  readonly realm: string
  readonly clients: ClientAddresses
  /** Reads sessions from the store. */
  readonly credentials: Credentials
}

/** The parts of sign-in that serve agents. */
export interface Agents {
  readonly routes: readonly ExtensionRoute[]
  /** Those of the page, which are limited per client together with the routes of sign-in. */
  readonly pageRoutes: readonly ExtensionRoute[]
  /** @throws {WireError} 401 for a token of an agent that is not valid */
  recognise?(context: RequestContext): Caller | undefined | Promise<Caller>
  readonly people?: AgentSessions
}

/** Rights of all agents. They have no other scope, so that no token of an agent opens the page. */
const agentAccess: Access = {
  mayDo: (scope) => scope === 'chat' || scope === 'models:read',
  mayUseModel: () => true,
  mayUseProvider: () => true,
}

/** Sign-in of agents, if it is on. */
export function agents(options: AgentsOptions): Agents {
  const { origin, settings } = options
  return origin === undefined || !settings.hasAgents ? { routes: [], pageRoutes: [] } : agentsOf({ ...options, origin })
}

function agentsOf({
  host,
  settings,
  origin,
  realm,
  clients,
  credentials,
}: AgentsOptions & { readonly origin: string }): Agents {
  const { restrictTo, hasCaselessNames, agentDays: days } = settings
  const { log } = host
  const now = (): number => host.now()
  const access = host.lastingStore('agent-access', familyStores.access)
  const cached = sessionCache<AgentAccess>(access, () => host.elapsedMs(), ownerOfAccess)
  const families = new Families({
    families: host.lastingStore('agents', familyStores.families),
    rotations: host.lastingStore('agent-rotations', familyStores.rotations),
    access: cached.direct,
    ...{ now, realm, restrictTo, days, log },
  })
  const flows = new DeviceFlows({
    devices: host.store('devices', deviceStores.devices),
    codes: host.store('device-codes', deviceStores.codes),
    decisions: host.store('device-decisions', deviceStores.decisions),
    now,
  })
  const uses = host.lastingStore('agent-uses', { ...familyStores.rotations, parse: numberOf })
  const noteUse = noteUses(uses, now)
  const lastUse = (key: string) => uses.get(hashOf(key))
  const limits = {
    starts: host.limit('agent-starts', { perMinute: startsPerMinute }),
    tokens: host.limit('agent-tokens', { perMinute: tokensPerMinute }),
    polls: host.limit('agent-polls', { perMinute: pollsPerMinute }),
  }

  async function callerOfToken(token: string): Promise<Caller> {
    const found = await withStore(() => families.find(token, cached.withFallback))
    if (found === undefined) throw invalidToken()
    noteUse(found.family)
    const { userId, userName } = found
    const person = { id: personIdAt(realm, userId), name: userName, accountId: userId }
    return {
      name: userName,
      person: hasCaselessNames ? { ...person, isCaseless: true } : person,
      access: agentAccess,
    }
  }

  return {
    routes: [...tokenRoutes({ flows, families, origin, clients, limits, log }), ...telemetryRoutes],
    pageRoutes: deviceRoutes({
      ...{ flows, families, credentials, origin, realm, days, clients, lastUse, now, log },
      wrongCodes: host.store('wrong-codes', wrongCodeOptions),
      entries: host.limit('code-entries', { perMinute: entriesPerMinute }),
    }),

    recognise(context) {
      const token = sentAccessToken(context.request)
      return token === undefined ? undefined : callerOfToken(token)
    },

    people: agentSessions(families, { lastUse, realm, hasCaselessNames }),
  }
}

/** The agents of all people, for owners. */
function agentSessions(
  families: Families,
  {
    lastUse,
    realm,
    hasCaselessNames,
  }: Pick<Settings, 'hasCaselessNames'> & {
    readonly lastUse: (key: string) => Promise<number | undefined>
    readonly realm: string
  },
): AgentSessions {
  return {
    async sessions() {
      const listed = await families.list()
      return await Promise.all(
        listed.map(async ({ key, value: person }) => {
          const used = await lastUse(key)
          const { agent, made: since } = person
          return { id: idOf(key), agent, since, ...(used === undefined ? {} : { used }), isCurrent: false, person }
        }),
      )
    },

    end: async (id) => (await families.endWhere((_, key) => idOf(key) === id))[0],

    async endAll(user) {
      const named = parsePerson(user)
      const keyOf = nameKey(hasCaselessNames)
      const ended = await families.endWhere(({ realm: own, userId, userName }) => {
        if (own !== realm) return false
        return named.userName === '' ? userId === named.userId : keyOf(userName) === keyOf(named.userName)
      })
      return ended.length
    },
  }
}

/** Of the key of the store, which is itself a hash. */
function idOf(key: string): string {
  return hashOf(`agent ${key}`).slice(0, 22)
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

const telemetryBytesMax = 1_048_576

/** Telemetry that agents send of themselves is read and dropped: a refusal would make them log an error each time. */
export const telemetryRoutes = [{ path: '/v1/metrics' }, { path: '/v1/logs' }, { path: '/v1/traces' }].map(
  ({ path }): ExtensionRoute => ({
    ...{ method: 'POST', path, scope: 'chat' },
    async handle({ body }) {
      await body(telemetryBytesMax)
      return new Response(null)
    },
  }),
)

function invalidToken(): WireError {
  return new WireError(401, 'authentication_error', 'invalid_token', 'The token of the agent is not valid any more', {
    headers: { 'www-authenticate': 'Bearer realm="svc", error="invalid_token"' },
    advice: 'Sign in again: /login in Claude Code, or svc login.',
  })
}
