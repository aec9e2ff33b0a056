import type { PartClaim } from '../../extensions/extension.ts'
import { WireError } from '../../formats/error.ts'
import type { Caller, Person, Profile } from '../../people/person.ts'
import type { HandlerContext } from '../handler-context.ts'
import { jsonResponse } from '../json-response.ts'
import { passGuards, type Guard } from '../pass-guards.ts'
import type { Route } from '../route.ts'
import type { Boot, PartEntry, User } from './page-api.ts'

/** A part of the page, with the name of its extension. */
export interface NamedPart extends PartClaim {
  readonly extension: string
}

/** Sources of {@link bootRoute}, read at every request. */
export interface BootOptions {
  readonly version: string
  /** The current guards. */
  readonly guards: () => readonly Guard[]
  /** Whether a caller that the guards let pass is an owner. */
  readonly mayOwn: (person: Person | undefined) => boolean
  /** The teams whose keys and use a person may see. */
  readonly teamsOf: (person: Person | undefined) => readonly string[]
  readonly hasUsage: () => boolean
  readonly hasKeys: () => boolean
  /** Whether access.json has limits or a fault. */
  readonly hasLimits: () => boolean
  /** People sign in. */
  readonly hasPeople: () => boolean
  readonly titleModel: () => string | undefined
  /** Milliseconds that content of a caller's requests is kept, or 0; `undefined`: no content is kept. */
  readonly contentOf: (caller: Caller) => { readonly keptMs: number } | undefined
  /** Whether conversations are stored by the service. */
  readonly hasHistory: () => boolean
  readonly parts: () => readonly NamedPart[]
  /** URL paths of an extension's module in the built page, by language; `undefined`: the build has none. */
  readonly modulesOf: (extension: string) => Promise<Readonly<Record<string, string>> | undefined>
  /** Called once for each extension whose part is missing in the build. */
  readonly onMissingPart: (extension: string) => void
}

/** `GET /api/boot`: data that the page needs to start (docs/api.md). A public route, so it asks the guards itself. */
export function bootRoute(options: BootOptions): Route {
  const partsOf = builtParts(options)

  async function boot(context: HandlerContext): Promise<Response> {
    const guards = options.guards()
    const [caller, parts] = await Promise.all([findCaller(guards, context), partsOf(options.parts())])
    return jsonResponse(bootOf(caller, guards.length, parts), context.id)
  }

  function teamsOf(caller: Caller | undefined): Pick<Boot, 'teams'> {
    const teams = caller === undefined ? [] : options.teamsOf(caller.person)
    return teams.length > 0 ? { teams } : {}
  }

  function bootOf(caller: Caller | undefined, guards: number, parts: readonly PartEntry[]): Boot {
    const user = caller?.name === undefined ? undefined : userOf(caller.name, caller.profile)
    const isOwner = guards === 0 || (caller !== undefined && options.mayOwn(caller.person))
    return {
      version: options.version,
      // A caller that the guards let pass without a name, for instance by address, need not sign in.
      isClosed: guards > 0 && (caller === undefined || user !== undefined),
      ...(user === undefined ? {} : { user }),
      isOwner,
      ...(caller === undefined ? {} : forPassed(isOwner)),
      ...(user === undefined ? {} : viewsOf()),
      ...contentFact(caller),
      ...teamsOf(caller),
      parts,
    }
  }

  /** Members for every caller that the guards let pass. */
  function forPassed(isOwner: boolean): Pick<Boot, 'hasUsage' | 'hasLimits' | 'hasPeople' | 'titleModel'> {
    const titleModel = options.titleModel()
    return {
      ...(options.hasUsage() ? { hasUsage: true } : {}),
      ...(isOwner && options.hasLimits() ? { hasLimits: true } : {}),
      ...(isOwner && options.hasPeople() ? { hasPeople: true } : {}),
      ...(titleModel === undefined ? {} : { titleModel }),
    }
  }

  function contentFact(caller: Caller | undefined): Pick<Boot, 'contentKeptMs'> {
    const content = caller && options.contentOf(caller)
    return content === undefined ? {} : { contentKeptMs: content.keptMs }
  }

  /** Facts for people who have signed in. */
  function viewsOf(): Pick<Boot, 'hasKeys' | 'hasHistory'> {
    return {
      ...(options.hasKeys() ? { hasKeys: true } : {}),
      ...(options.hasHistory() ? { hasHistory: true } : {}),
    }
  }

  return { method: 'GET', path: '/api/boot', isPublic: true, handle: boot }
}

/**
 * Asks the guards, as the server does for routes that are not public.
 *
 * @returns `undefined` when a guard requires sign-in (401)
 * @throws other errors of the guards
 */
async function findCaller(guards: readonly Guard[], context: HandlerContext): Promise<Caller | undefined> {
  try {
    const caller = await passGuards(guards, context)
    // The page is for people: a key does not open it.
    return caller.access === undefined ? caller : undefined
  } catch (error) {
    if (error instanceof WireError && error.status === 401) return undefined
    throw error
  }
}

function userOf(
  user: string,
  profile: Profile = { id: user, userName: user, displayName: user, email: '', avatarUrl: '' },
): User {
  const { id, userName, displayName, email, avatarUrl } = profile
  return { id, userName, displayName, email, avatarUrl: avatarUrl.startsWith('https:') ? avatarUrl : '' }
}

/** The parts that can be loaded. */
function builtParts({
  modulesOf,
  onMissingPart,
}: BootOptions): (parts: readonly NamedPart[]) => Promise<readonly PartEntry[]> {
  const missing = new Set<string>()

  async function entryOf({ extension, slots, settings }: NamedPart): Promise<readonly PartEntry[]> {
    const modules = await modulesOf(extension)
    if (modules !== undefined) return [{ extension, modules, slots, settings }]
    if (!missing.has(extension)) onMissingPart(extension)
    missing.add(extension)
    return []
  }

  return async (parts) => (await Promise.all(parts.map(entryOf))).flat()
}
