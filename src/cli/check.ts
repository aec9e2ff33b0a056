import { askProvider, type Asked } from '../app/ask-provider.ts'
import { sourceLine } from '../app/start-lines.ts'
import { unpricedWarnings } from '../app/unpriced-models.ts'
import { booleanFlag, integerFlag, configFlag } from '../base/command-line/arguments.ts'
import type { Command, CommandContext, Output } from '../base/command-line/command.ts'
import { personEntry } from '../base/person-entry.ts'
import { formatDuration, harmless, harmlessLines, paintFor } from '../base/shown-text.ts'
import { type Config, type ProviderConfig, ConfigError } from '../config/config.ts'
import { accessFile } from '../config/home.ts'
import { LedgerUnavailable } from '../ledger/ledger.ts'
import type { AccessPolicy } from '../limits/access-policy.ts'
import { jsonFlag } from './flags.ts'
import { gatewayAccess, type GatewayAccess } from './gateway-access.ts'
import { formatTable, type Cell } from './terminal.ts'

const flags = {
  config: configFlag,
  filesOnly: booleanFlag('check the files only, without asking providers'),
  strict: booleanFlag('fail unless all enabled providers answer'),
  timeout: integerFlag('seconds to wait for answers', 'SECONDS', { minimum: 1, maximum: 600, fallback: 30 }),
  json: jsonFlag,
}

type Context = CommandContext<typeof flags>

const askedAtOnce = 8

/** One line of the result. */
interface Row {
  readonly id: string
  readonly status: string
  readonly model?: string
  readonly ms?: number
  readonly error?: string
}

/** `svc check` (docs/commands.md). */
export function checkCommandWith(access: GatewayAccess, now = Date.now): Command<typeof flags> {
  async function runCheck(context: Context): Promise<number> {
    const { flags, stdout } = context
    let config: Config
    let extensions: readonly string[]
    try {
      config = await access.load(flags.config, context)
      extensions = await checkExtensions(config, context)
      if (config.history === 'server') await checkHistoryKey(config, context)
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      if (flags.json) stdout.write(`${JSON.stringify({ valid: false, faults: error.faults })}\n`)
      else stdout.write(`${harmlessLines(error.message)}\n`)
      return 1
    }
    const { loadAccess } = await import('../config/file/parse-access.ts')
    const policy = await loadAccess(context.environment)
    if (!flags.json)
      stdout.write(
        [`${sourceLine(config)}\n`, accessLine(policy, context), ...extensions.map((path) => `${path}: valid\n`)].join(
          '',
        ),
      )
    await warnOfAccess(policy, context)
    await warnOfOldPrices(config, context, now())
    if (flags.filesOnly) {
      if (flags.json) stdout.write('{"valid":true}\n')
      return 0
    }
    const rows = await ask(config, policy, access, context)
    if (context.signal.aborted) return 130
    if (flags.json) stdout.write(`${JSON.stringify({ valid: true, providers: rows.map(jsonRow) })}\n`)
    else stdout.write(`\n${table(rows, stdout)}`)
    const hasAnswer = rows.some(({ status }) => status === 'ok')
    const hasFailure = rows.some(({ status }) => status !== 'ok' && status !== 'off')
    return hasAnswer && !(flags.strict && hasFailure) ? 0 : 1
  }

  return {
    name: 'check',
    summary: 'check the configuration, then ask each provider for one token',
    flags,
    examples: [
      { command: 'svc check', does: 'checks the files, then every enabled provider' },
      { command: 'svc check --config new.json --files-only', does: 'checks a file before it is used' },
      { command: 'svc check --strict', does: 'for scripts: exit code 1 if one enabled provider fails' },
    ],
    exitCodes: { 1: 'a file is invalid, or no provider answers; with --strict: one fails', 130: 'stopped by Ctrl-C' },
    run: runCheck,
  }
}

/** @returns the files of extensions @throws {ConfigError} */
async function checkExtensions(config: Config, { environment, stderr }: Context): Promise<readonly string[]> {
  const { checkExtensionFiles, checkExtensionNames } = await import('../app/extensions/check-extension-files.ts')
  if (config.source.kind === 'file') checkExtensionNames(config, config.source.path)
  if (accessFile(environment) === undefined) return []
  return await checkExtensionFiles(environment, (message) => stderr.write(`svc: ${harmless(message)}\n`))
}

/** The service needs the key to start; the database is not opened. @throws {ConfigError} */
async function checkHistoryKey(config: Config, { environment }: Context): Promise<void> {
  const { neededHistoryKeys, historyFault } = await import('../app/history-keys.ts')
  try {
    await neededHistoryKeys(environment)
  } catch (error) {
    throw historyFault(config, error)
  }
}

/** The line of access.json; nothing where it says nothing. */
function accessLine(
  { limits, teams, keys = [], content = [], webhook }: AccessPolicy,
  { environment }: Context,
): string {
  const counts = [
    counted(limits.length, 'limit'),
    counted(teams.size, 'team'),
    counted(keys.length, 'key'),
    counted(content.length, 'rule', ' of content'),
    counted(webhook === undefined ? 0 : 1, 'webhook'),
  ].flat()
  return counts.length === 0 ? '' : `${harmless(accessFile(environment) ?? '')}: valid, ${counts.join(', ')}\n`
}

/** Warns of entries of access.json that svc.db makes doubtful. PostgreSQL is not asked. */
async function warnOfAccess(policy: AccessPolicy, { environment, stderr }: Context): Promise<void> {
  const { keys = [] } = policy
  const questions = { hashes: keys.map(({ hash }) => hash), userIds: userIdsIn(policy) }
  if (questions.hashes.length + questions.userIds.length === 0) return
  const [{ fileFacts }, { ledgerPlace }] = await Promise.all([
    import('../ledger/file-facts.ts'),
    import('../app/ledger-place.ts'),
  ])
  const place = ledgerPlace(environment)
  if (place.kind !== 'file') return
  const file = harmless(place.path)
  try {
    const { hashes, sharedIds } = await fileFacts(place.path, questions)
    for (const { name } of keys.filter(({ hash }) => hashes.has(hash)))
      stderr.write(
        `svc: the key "${name}" of access.json has no effect: ${file} has the same key, which counts. ` +
          'Remove it from the file, or give it another hash\n',
      )
    for (const id of sharedIds)
      stderr.write(
        `svc: id:${harmless(id)} in access.json names several people of ${file}, whose use counts together: ` +
          `id:${harmless(id)}@URL names one, with the identity provider\n`,
      )
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) throw error
    stderr.write(`svc: ${harmless(error.message)}\n`)
  }
}

/** User ids that stand without an identity provider. */
function userIdsIn({ limits, content = [], teams }: AccessPolicy): readonly string[] {
  const named = [...limits, ...content].flatMap(({ subject }) => (subject.kind === 'person' ? [subject.name] : []))
  const members = [...teams.values()].flatMap((team) => [...team.leads, ...team.members])
  const entries = [...named, ...members].map(personEntry)
  return [
    ...new Set(entries.flatMap((each) => (each.kind === 'id' && each.provider === undefined ? [each.userId] : []))),
  ]
}

function counted(count: number, noun: string, more = ''): readonly string[] {
  return count === 0 ? [] : [`${count} ${noun}${count === 1 ? '' : 's'}${more}`]
}

/** Warns of a list of prices that is older than 90 days, if a provider uses it. */
async function warnOfOldPrices({ providers }: Config, { environment, stderr }: Context, now: number): Promise<void> {
  if (providers.every(({ enabled, listedBrand }) => !enabled || listedBrand === undefined)) return
  const [{ loadPrices }, { shippedDate }, { ageWarning }] = await Promise.all([
    import('../config/file/parse-prices.ts'),
    import('../app/shipped-prices.ts'),
    import('../app/price-update.ts'),
  ])
  const { fetched } = await loadPrices(environment)
  const warning = ageWarning(Math.max(shippedDate(), fetched?.fetchedAt ?? 0), now)
  if (warning !== undefined) stderr.write(`svc: ${warning}\n`)
}

/** `svc check`. */
export const checkCommand = checkCommandWith(gatewayAccess)

async function ask(
  config: Config,
  policy: AccessPolicy,
  access: GatewayAccess,
  { flags: { timeout }, environment, stderr, signal }: Context,
): Promise<readonly Row[]> {
  const gateway = await access.open(config, environment, { isFresh: true })
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeout * 1000)])
  const progress = progressOn(stderr)
  const waiting = [...gateway.providers]
  const total = waiting.length
  const asked = new Map<string, Asked>()

  async function askNext(): Promise<void> {
    for (let provider = waiting.shift(); provider !== undefined && !signal.aborted; provider = waiting.shift()) {
      asked.set(provider.id, await askProvider(provider, limit))
      progress.show(`${asked.size} of ${total} providers asked`)
    }
  }

  try {
    progress.show(`0 of ${total} providers asked`)
    await Promise.all(Array.from({ length: askedAtOnce }, askNext))
  } finally {
    progress.end()
    for (const warning of unpricedWarnings(policy, gateway.providers)) stderr.write(`svc: ${harmless(warning)}\n`)
    gateway.close()
  }
  return config.providers.map((provider) => rowOf(provider, asked.get(provider.id)))
}

function rowOf(provider: ProviderConfig, asked: Asked | undefined): Row {
  const { id } = provider
  if (!provider.enabled) return { id, status: 'off' }
  if (asked === undefined) return { id, status: 'unavailable', error: provider.unavailable ?? 'not asked' }
  const { model, ms, failure } = asked
  return failure === undefined
    ? { id, status: 'ok', model, ms }
    : { id, status: failure.status, model, ms, error: failure.reason }
}

function jsonRow({ id, status, model, ms, error }: Row): object {
  return {
    id,
    status,
    ...(model === undefined ? {} : { model }),
    ...(ms === undefined ? {} : { ms: Math.round(ms) }),
    ...(error === undefined ? {} : { error }),
  }
}

function table(rows: readonly Row[], stdout: Output): string {
  const columns = [
    { title: 'provider' },
    { title: 'status' },
    { title: 'time', align: 'right' },
    { title: 'model' },
    { title: 'error', shrinks: true },
  ] as const
  const cells = rows.map(({ id, status, ms, model, error }): Cell[] => [
    id,
    {
      text: status,
      style: status === 'ok' ? 'green' : status === 'off' ? 'dim' : status === 'unavailable' ? 'yellow' : 'red',
    },
    ms === undefined ? '' : formatDuration(ms),
    model ?? '',
    error ?? '',
  ])
  return formatTable(columns, cells, paintFor(stdout), stdout.isTerminal ? stdout.columns : Infinity)
}

/** A progress line that is overwritten, on a terminal only. */
function progressOn(output: Output): { show(text: string): void; end(): void } {
  if (!output.isTerminal) return { show: () => {}, end: () => {} }
  return {
    show: (text) => output.write(`\r\u001b[2K${text}`),
    end: () => output.write('\r\u001b[2K'),
  }
}
