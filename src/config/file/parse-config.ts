import { table } from '../../base/table.ts'
import { listShape, namedShape, namesBy, objectShape } from '../../shapes/containers.ts'
import { forRepeats, memberNode, type ShapeNode } from '../../shapes/node.ts'
import {
  eitherShape,
  flagShape,
  integerShape,
  mapShape,
  refuseNode,
  textShape,
  wordShape,
  type Faults,
} from '../../shapes/shape.ts'
import { ConfigError, type Config, type ConfigFault } from '../config.ts'
import { defaultFailover, defaultLimits } from '../defaults.ts'
import type { Environment } from './environment.ts'
import { ownersOf, ownersShape } from './owners.ts'
import { providerShape, type ParsedProvider } from './parse-provider.ts'
import { readFileBy, schemaAddress } from './read-file.ts'
import { resolveProvider } from './resolve-provider.ts'
import { durationMsMax, extensionNameRule, modelName, modelNameRule, serviceNameRule } from './rules.ts'

/** 1 MiB, enough for thousands of providers. */
export const configBytesMax = 1024 * 1024

/** 1 TiB. */
const bodyBudgetBytesMax = 1024 ** 4

/** `"server"`, or for how long the server keeps conversations. */
const historyWords = wordShape(['browser', 'server'])
const history = eitherShape(
  { string: historyWords, object: objectShape({ days: integerShape(1, 36_500) }, { required: ['days'] }) },
  historyWords,
)

/** The table of providers.json. */
export const providersFile = objectShape(
  {
    $schema: schemaAddress,
    name: textShape(serviceNameRule),
    titles: objectShape({ model: modelName }, { required: ['model'], hints: { name: 'model', models: 'model' } }),
    history,
    providers: mapShape(listShape(providerShape), refuseSameIds),
    limits: objectShape(
      {
        body_bytes: integerShape(1024, 1024 ** 3),
        deadline_ms: integerShape(1, durationMsMax),
        max_concurrent: integerShape(1, 1_000_000),
        body_budget_bytes: integerShape(1024, bodyBudgetBytesMax),
      },
      { hints: { timeout: 'deadline_ms', client_timeout: 'deadline_ms', client_max_size: 'body_bytes' } },
    ),
    failover: objectShape({
      on_content_policy: wordShape(['stop', 'next']),
      on_cut: wordShape(['resume', 'error']),
      hold: wordShape(['calls', 'none']),
      retry_billed: flagShape,
    }),
    aliases: mapShape(namedShape(modelName, namesBy(modelNameRule, 'an invalid alias name')), resolveAliases),
    owners: ownersShape,
    auth: listShape(textShape(extensionNameRule), { max: 16 }),
  },
  {
    required: ['providers'],
    hints: {
      schema: '$schema',
      models: 'aliases',
      model_aliases: 'aliases',
      fallback: 'failover',
      fallbacks: 'failover',
      title: 'name',
      title_model: 'titles',
      admins: 'owners',
      users: 'owners',
      sign_in: 'auth',
      conversations: 'history',
    },
  },
)

export interface ParseOptions {
  /** File name for faults and for the result's `source`. */
  readonly file: string
  /** Variables for `$NAME` and the keys of brands. */
  readonly environment: Environment
}

/**
 * Parses a configuration: JSON with comments and trailing commas, at most 1 MiB and 64 levels deep
 * (docs/configuration.md). An unset `$NAME` makes its provider unavailable; any other problem is a fault.
 *
 * @throws {ConfigError} with all faults, in the order of the file
 */
export function parseConfig(text: string, { file, environment }: ParseOptions): Config {
  if (Buffer.byteLength(text) > configBytesMax) throw new ConfigError([tooLarge(file, Buffer.byteLength(text))])
  const read = readFileBy(text, file, providersFile)
  return {
    providers: read.providers.map((entry) => resolveProvider(entry, environment)),
    limits: { ...defaultLimits, ...read.limits },
    failover: { ...defaultFailover, ...read.failover },
    aliases: read.aliases ?? table<string>(),
    ...(read.name === undefined ? {} : { name: read.name }),
    ...(read.titles === undefined ? {} : { titles: read.titles }),
    ...(read.owners === undefined ? {} : { owners: ownersOf(read.owners, environment) }),
    ...(read.auth === undefined ? {} : { auth: [...new Set(read.auth)] }),
    ...(read.history === undefined || read.history === 'browser' ? {} : { history: 'server' }),
    ...(typeof read.history === 'object' ? { historyDays: read.history.days } : {}),
    source: { kind: 'file', path: file },
  }
}

/** Makes the fault of a file above 1 MiB. */
export function tooLarge(file: string, bytes: number): ConfigFault {
  return { file, field: '', found: `${bytes} bytes`, allowed: `at most ${configBytesMax}` }
}

function refuseSameIds(
  providers: readonly ParsedProvider[],
  list: ShapeNode,
  faults: Faults,
): readonly ParsedProvider[] {
  const known = new Set<unknown>(providers.map(({ id }) => id))
  const idOf = (item: ShapeNode): unknown => memberNode(item, 'id')?.value
  forRepeats(
    list.elements().map((item) => [known.has(idOf(item)) ? idOf(item) : undefined, item]),
    ({ offset, path }, first) =>
      faults.add(
        { offset, path: `${path}.id` },
        `a duplicate "${String(idOf(first))}"`,
        `a unique id for each provider (the first is on line ${faults.lineOf(first.offset)})`,
      ),
  )
  return providers
}

/** Resolves aliases of aliases, so that a lookup is one step. */
function resolveAliases(
  targets: ReadonlyMap<string, string>,
  node: ShapeNode,
  faults: Faults,
): Readonly<Record<string, string>> {
  const aliases = table<string>()
  const nodes = new Map(node.members().map((member) => [member.name, member.node]))
  const ends = new Map<string, string | undefined>()
  for (const name of targets.keys()) {
    const end = followAlias(name, targets, ends)
    if (end === undefined) refuseNode(nodes.get(name) ?? node, 'a name without a cycle of aliases', faults)
    else aliases[name] = end
  }
  return aliases
}

/**
 * The end of a chain of aliases; `undefined` for a cycle. Results are kept in `ends`, so that each step is walked once.
 */
function followAlias(
  name: string,
  targets: ReadonlyMap<string, string>,
  ends: Map<string, string | undefined>,
): string | undefined {
  const walked = new Set<string>()
  let end: string | undefined = name
  while (end !== undefined && targets.has(end)) {
    if (walked.has(end)) end = undefined
    else {
      walked.add(end)
      end = ends.has(end) ? ends.get(end) : targets.get(end)
    }
  }
  for (const step of walked) ends.set(step, end)
  return end
}
