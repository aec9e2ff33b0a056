import { UsageError } from '../../base/start-errors.ts'
import type { Config } from '../../config/config.ts'
import type { Contribution } from '../../extensions/extension.ts'
import { loadExtension, UnknownExtensionError } from '../../extensions/load.ts'
import { SlotError } from '../../extensions/slots.ts'
import { ownKeysDefault, type AccessPolicy } from '../../limits/access-policy.ts'
import type { Logger } from '../../observe/log.ts'
import type { FileKey } from '../../people/keys/file-key.ts'
import type { KeyDependencies } from '../../people/keys/key-host.ts'
import { isOwner } from '../../people/owners.ts'
import { callerOfKey } from '../../people/person.ts'
import { managedTeams } from '../../people/teams.ts'
import type { Transport } from '../../transport/transport.ts'
import type { ActiveConfig } from '../active-config.ts'
import type { AuditedFollow } from '../audited-follow.ts'
import { checkOwnersNamed } from '../check-access.ts'
import type { ActiveAccess } from '../follow-access.ts'
import type { Runtime } from '../runtime.ts'
import type { ServeContext } from '../serve-context.ts'
import type { SharedLedger } from '../shared-ledger.ts'
import { hostFetch } from './host-fetch.ts'
import type { RunningExtensions } from './run-extensions.ts'

/** The parts of the service that extensions and keys need. */
export interface ExtensionNeeds extends Pick<ServeContext, 'given' | 'environment' | 'path' | 'log'> {
  readonly runtime: Pick<Runtime, 'stores'>
  readonly extensions: RunningExtensions
  readonly active: ActiveConfig
  readonly access: ActiveAccess
  readonly ledger: Pick<SharedLedger, 'open' | 'lasting'>
  readonly files: Pick<AuditedFollow, 'follow'>
  readonly transport: Transport
  readonly warn: Logger['warn']
  /** @throws {ConfigError} when a limit or a key could have no effect with these contributions */
  readonly checkPolicy: (policy: AccessPolicy | undefined, contributions: readonly Contribution[]) => void
}

/**
 * Starts the extensions of `--auth` or of providers.json, and the keys. Sign-in that was requested and does not exist
 * must not leave the service open (docs/sign-in.md).
 *
 * @throws {UsageError} @throws {ConfigError} when one cannot start; then none runs
 */
export async function startExtensions(needs: ExtensionNeeds): Promise<void> {
  const { given, environment, path, log, warn, runtime, extensions, active, access, checkPolicy } = needs
  const names = extensionNames(given, active.config)
  const modules = new Map([
    ['keys', async () => (await import('../../people/keys/service-keys.ts')).serviceKeys(keyDependencies(needs))],
  ])
  try {
    await extensions.start({
      names,
      environment,
      stores: runtime.stores,
      lasting: needs.ledger.lasting,
      log,
      warn,
      follow: needs.files.follow,
      fetch: hostFetch(needs.transport, environment),
      load: (name) => loadExtension(name, modules),
      admit(contributions) {
        checkOwnersNamed(active.config, contributions, path)
        // Without this, limits of people would end with sign-in.
        checkPolicy(access.policy(), contributions)
      },
      onFault: (name, error) =>
        log.error('the extension was not reloaded; its previous state stays active', {
          extension: name,
          reason: error instanceof Error ? error.message : String(error),
        }),
    })
  } catch (error) {
    throw error instanceof UnknownExtensionError || error instanceof SlotError
      ? new UsageError(error.message, { cause: error })
      : error
  }
}

/** Names of the extensions that are to run: of the flag or the variable, else of providers.json. */
export function extensionNames(
  { auth }: Pick<ServeContext['given'], 'auth'>,
  config: Pick<Config, 'auth'>,
): readonly string[] {
  return auth ?? config.auth ?? []
}

const noKeys: readonly FileKey[] = []

function keyDependencies({ ledger, access, active, extensions }: ExtensionNeeds): KeyDependencies {
  const teams = () => access.policy()?.teams
  return {
    ledger: ledger.open,
    ownKeys: () => access.ownKeys() ?? ownKeysDefault,
    fileKeys: () => access.policy()?.keys ?? noKeys,
    contentKeptMs: (key) => access.contentRules()?.termsOf(callerOfKey(key))?.keepMs,
    teams: {
      has: (name) => teams()?.has(name) ?? false,
      managedBy: (person) => managedTeams(teams(), person, isOwner(active.config.owners, person)),
    },
    mayEnter: (person) => extensions.mayEnter(person),
  }
}
