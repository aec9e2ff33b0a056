import { booleanFlag, show, textFlag } from '../base/command-line/arguments.ts'
import type { Command, CommandContext } from '../base/command-line/command.ts'
import { harmless, paintFor } from '../base/shown-text.ts'
import { UsageError } from '../base/start-errors.ts'
import { configBytesMax } from '../config/file/parse-config.ts'
import { findHome } from '../config/home.ts'
import { unitPriceNames, type Price } from '../formats/model.ts'
import type { PriceChange } from '../prices/price-changes.ts'
import { formatTable } from './terminal.ts'

const flags = {
  from: textFlag('list of prices: an address (https), or a file', 'URL', { fallback: 'https://models.dev/api.json' }),
  dryRun: booleanFlag('show what would change, and write nothing'),
  yes: booleanFlag('accept prices that become 0, vanish, or move tenfold'),
}

type Context = CommandContext<typeof flags>

/** `svc prices` (docs/configuration.md#a-newer-list-of-prices). Running services follow the file that it writes. */
export const pricesCommand: Command<typeof flags> = {
  name: 'prices',
  summary: 'fetch a newer list of prices',
  flags,
  arguments: { usage: 'update', summary: 'update: fetch the list, show what changes, and write it', maximum: 1 },
  examples: [
    { command: 'svc prices update --dry-run', does: 'shows what the list of models.dev would change' },
    { command: 'svc prices update', does: 'writes it to ~/.svc/prices.fetched.json, behind your own prices.json' },
    { command: 'svc prices update --from prices.json --yes', does: 'takes a list, also with suspicious prices' },
  ],
  run,
}

async function run({ positionals: [word], flags: given, environment, stdout, stderr }: Context): Promise<number> {
  if (word !== 'update')
    throw new UsageError(`found ${word === undefined ? 'nothing' : show(word)}, allowed: svc prices update`)
  const { fetchedPrices: path } = findHome(environment)
  const [update, { shippedPrices }, { parseFetchedPrices }, { readConfigText }] = await Promise.all([
    import('../app/price-update.ts'),
    import('../app/shipped-prices.ts'),
    import('../config/file/parse-prices.ts'),
    import('../config/file/read-text.ts'),
  ])
  const previous = parseFetchedPrices(await readConfigText(path), path)?.prices ?? new Map()
  const list = await update.fetchPriceList(given.from, environment)
  const { prices, changes } = update.priceUpdate(shippedPrices(), previous, list)
  const doubtful = changes.filter(({ doubt }) => doubt !== undefined)
  stdout.write(`${countsOf(changes)}\n`)
  if (doubtful.length > 0) stdout.write(`\n${doubtsTable(doubtful, stdout)}\n`)
  if (given.dryRun) return 0
  if (doubtful.length > 0 && !given.yes) {
    stderr.write('svc: nothing was written: look at the prices above, then accept them with --yes\n')
    return 1
  }
  const text = update.fetchedText(given.from, Date.now(), prices)
  if (Buffer.byteLength(text) > configBytesMax) throw new Error(`the prices have more than ${configBytesMax} bytes`)
  const { writeConfig } = await import('../config/edit/write-config.ts')
  await writeConfig(path, text)
  stdout.write(`${harmless(path)}: written; running services use it now\n`)
  return 0
}

function countsOf(changes: readonly PriceChange[]): string {
  const added = changes.filter(({ before }) => before === undefined).length
  const gone = changes.filter(({ after }) => after === undefined).length
  return `${changes.length - added - gone} prices change, ${added} are new, ${gone} are gone`
}

function doubtsTable(changes: readonly PriceChange[], stdout: Context['stdout']): string {
  const columns = [
    { title: 'MODEL', shrinks: true },
    { title: 'PRICE' },
    { title: 'BEFORE (USD PER MILLION)' },
    { title: 'AFTER' },
  ]
  const rows = changes.map(({ brand, model, before, after, doubt }) => [
    `${brand}/${model}`,
    doubt ?? '',
    inWords(before, after),
    inWords(after, before),
  ])
  return formatTable(columns, rows, paintFor(stdout), stdout.isTerminal ? stdout.columns : Infinity)
}

/** The members of a price that differ from another. */
function inWords(price: Price | undefined, other: Price | undefined): string {
  if (price === undefined) return 'none'
  const units = unitPriceNames.flatMap(([name, key]) =>
    price[key] === undefined || price[key] === other?.[key] ? [] : [`${name} ${price[key]}`],
  )
  const groups = (['above', 'flex', 'priority', 'tools', 'multiples'] as const).filter(
    (key) => !Bun.deepEquals(price[key], other?.[key]),
  )
  return [...units, ...groups.map((name) => `other ${name}`)].join(', ') || 'the same'
}
