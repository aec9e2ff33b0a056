import type { PartClaim, Profile, Visitor } from '../extensions/extension.ts'
import { WireError } from '../wire/error.ts'
import { jsonResponse, type Exchange } from './exchange.ts'
import type { Boot, PartEntry, User } from './page-api.ts'
import { passGuards, type Guard } from './pass-guards.ts'
import type { Route } from './route.ts'

/** What an extension brings to the page, and its name. */
export interface NamedPart extends PartClaim {
  readonly extension: string
}

/** What {@link bootRoute} reads, each time it is asked. */
export interface BootOptions {
  readonly version: string
  /** Those in force. */
  readonly guards: () => readonly Guard[]
  /** Whether whom the guards let pass is an owner. @param user `undefined`: they name nobody */
  readonly mayOwn: (user: string | undefined) => boolean
  readonly parts: () => readonly NamedPart[]
  /** Address of an extension's module in the built page; `undefined`: it has none there. */
  readonly moduleOf: (extension: string) => Promise<string | undefined>
  /** Told once of each extension whose part is claimed and is not there. */
  readonly onMissingPart: (extension: string) => void
}

/**
 * `GET /api/boot`: what the page must know before it shows anything (docs/api.md). Public, so it asks the guards
 * itself.
 */
export function bootRoute(options: BootOptions): Route {
  const partsOf = builtParts(options)

  async function boot(exchange: Exchange): Promise<Response> {
    const guards = options.guards()
    const [visitor, parts] = await Promise.all([whoIsThere(guards, exchange), partsOf(options.parts())])
    return jsonResponse(bootOf(visitor, guards.length, parts), exchange.id)
  }

  function bootOf(visitor: Passed | undefined, guards: number, parts: readonly PartEntry[]): Boot {
    const user = visitor?.user === undefined ? undefined : userOf(visitor.user, visitor.profile)
    return {
      version: options.version,
      // Whom guards let pass without a name, by their address for instance, need not sign in.
      isClosed: guards > 0 && (visitor === undefined || user !== undefined),
      ...(user === undefined ? {} : { user }),
      isOwner: guards === 0 || (visitor !== undefined && options.mayOwn(visitor.user)),
      parts,
    }
  }

  return { method: 'GET', path: '/api/boot', isPublic: true, handle: boot }
}

/** Somebody whom every guard lets pass, with or without a name. */
type Passed = Partial<Visitor>

/**
 * Asks as the server does for what is not public. `undefined`: somebody would have to sign in. @throws what a guard
 * throws, but for 401
 */
async function whoIsThere(guards: readonly Guard[], exchange: Exchange): Promise<Passed | undefined> {
  try {
    return await passGuards(guards, exchange)
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
  moduleOf,
  onMissingPart,
}: BootOptions): (parts: readonly NamedPart[]) => Promise<readonly PartEntry[]> {
  const missing = new Set<string>()

  async function entryOf({ extension, slots, settings }: NamedPart): Promise<readonly PartEntry[]> {
    const module = await moduleOf(extension)
    if (module !== undefined) return [{ extension, module, slots, settings }]
    if (!missing.has(extension)) onMissingPart(extension)
    missing.add(extension)
    return []
  }

  return async (parts) => (await Promise.all(parts.map(entryOf))).flat()
}
