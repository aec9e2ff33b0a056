import { parseArgs } from 'node:util'
import { pick } from '../../test/client.ts'
import { startChromium, type Tab } from '../../test/fakes/chromium.ts'
import { percentile } from '../statistics.ts'
import { servePart } from './part-server.ts'

const help = `npm run bench:page
Measures the page: sizes, Lighthouse, streams, and a history.

npm run bench:page -- history [--conversations 10000] [--messages 20] [--runs 7]

Measures opening and searching a long history in Chromium, from a newly loaded page: the time until its list is read,
until its first rows are painted, and until a search in the shown list has its hits: the first one, 120 ms after the
focus in the field or ("cold") without it, and the same again.
"loop" is a fixed computation, to compare machines and browsers: 60 ms with older Chromium, 200 ms with 156 on the same
idle machine.
CHROMIUM is the path of the browser. The last line of output is a JSON object of the figures with targets; exit code 1
when a target is missed.`

const { values } = parseArgs({
  options: {
    conversations: { type: 'string', default: '10000' },
    messages: { type: 'string', default: '20' },
    runs: { type: 'string', default: '7' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.log(help)
  process.exit(0)
}
const [conversations = 0, messages = 0, runs = 0] = [values.conversations, values.messages, values.runs].map((text) => {
  const number = Number(text)
  if (!Number.isSafeInteger(number) || number < 1) throw new Error(`not a number above 0: ${text}`)
  return number
})
const openMsMax = 200,
  searchMsMax = 100

const numberOf = (value: unknown, name: string): number => Number(pick(value, name))
const longestOf = (value: unknown): number => Math.max(0, ...[pick(value, 'longTasks')].flat().map(Number))
const shown = (values: readonly number[]): string =>
  `median ${(percentile(values, 50) ?? 0).toFixed(0)}, best ${Math.min(...values).toFixed(0)}`

/** Repeats a measurement, each time on a newly loaded page. @returns its figures, by name */
async function repeated(tab: Tab, url: string, what: string, expression: string): Promise<ReadonlyMap<string, number>> {
  const results: unknown[] = []
  for (let run = 0; run < runs; run++) {
    await tab.goto(url)
    await tab.reload()
    await tab.until('typeof measureOpening === "function"')
    results.push(await tab.evaluate(expression))
  }
  const medians = new Map<string, number>()
  const columns = Object.keys(Object(results[0])).filter((name) => name !== 'longTasks')
  const shownColumns = columns.map((name) => {
    const all = results.map((result) => numberOf(result, name))
    medians.set(name, percentile(all, 50) ?? 0)
    return `${name}: ${shown(all)}`
  })
  console.log(
    `${what.padEnd(24)} ${shownColumns.join('; ')}; longest task ${Math.max(...results.map(longestOf)).toFixed(0)}`,
  )
  return medians
}

await using part = await servePart('history-page.tsx')
const { url } = part
const chromium = await startChromium(process.env['CHROMIUM'] ?? '/usr/bin/chromium')
try {
  const tab = chromium.person({ viewport: { width: 1280, height: 800 } }).tab()
  await tab.goto(url)
  await tab.until('typeof fillHistory === "function"')
  let keptMs = 0
  // In parts, since a call may take ten seconds.
  for (let from = 0; from < conversations; from += 200) {
    const to = Math.min(conversations, from + 200)
    keptMs += Number(await tab.evaluate(`fillHistory('bench', ${from}, ${to}, ${messages})`))
  }
  console.log(
    `${conversations} conversations of ${messages} messages: kept in ${(keptMs / conversations).toFixed(1)} ms each`,
  )
  const unindexed = await repeated(tab, url, 'searched, not indexed', `measureSearch('bench', 'needle', true)`)
  while ((await tab.evaluate(`tidySome('bench')`)) === true);
  const opened = await repeated(tab, url, 'opened', `measureOpening('bench')`)
  await repeated(tab, url, 'searched cold: needle', `measureSearch('bench', 'needle', false)`)
  const searched: number[] = []
  for (const query of ['needle', 'AN Tion', 'nowhere', 'an'])
    searched.push(
      (await repeated(tab, url, `searched: ${query}`, `measureSearch('bench', '${query}', true)`)).get('first') ?? 0,
    )
  const openMs = Math.round(opened.get('painted') ?? 0),
    searchMs = Math.round(Math.max(...searched))
  console.log(
    JSON.stringify({
      conversations,
      openMs,
      searchMs,
      unindexedMs: Math.round(unindexed.get('first') ?? 0),
      loopMs: Math.round(opened.get('loop') ?? 0),
    }),
  )
  process.exitCode = openMs <= openMsMax && searchMs <= searchMsMax ? 0 : 1
} finally {
  await chromium.close()
}
