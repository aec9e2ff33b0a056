import { pick } from '../../test/client.ts'
import { startChromium, type Tab } from '../../test/fakes/chromium.ts'
import { percentile } from '../statistics.ts'
import { servePart } from './part-server.ts'

/**
 * Measures opening and searching a history of 2,000 conversations in Chromium, from a newly loaded page: the time until
 * its first rows are painted, and until a search has its hits. `CONVERSATIONS` is another number of them, and
 * `CHROMIUM` the path of the browser. The last line of output is a JSON object of the figures with targets. Exit code 1
 * when a target is missed.
 */

const conversations = Number(process.env['CONVERSATIONS'] ?? 2_000),
  openings = 7,
  openMsMax = 200,
  searchMsMax = 300
if (!(conversations >= 1)) throw new Error(`CONVERSATIONS is not a number above 0: ${process.env['CONVERSATIONS']}`)

const numberOf = (value: unknown, name: string): number => Number(pick(value, name))
const longestOf = (value: unknown): number => Math.max(0, ...[pick(value, 'longTasks')].flat().map(Number))
const shown = (values: readonly number[]): string =>
  `median ${(percentile(values, 50) ?? 0).toFixed(0)}, worst ${Math.max(...values).toFixed(0)}`

interface Outcome {
  readonly what: string
  readonly median: number
  readonly longestTask: number
}

/** Repeats a measurement, each time on a newly loaded page. */
async function repeated(
  tab: Tab,
  url: string,
  what: string,
  expression: string,
  time: string,
  detail: string,
): Promise<Outcome> {
  const times: number[] = [],
    tasks: number[] = [],
    details: unknown[] = []
  for (let run = 0; run < openings; run++) {
    await tab.goto(url)
    await tab.reload()
    await tab.until('typeof measureOpening === "function"')
    const result = await tab.evaluate(expression)
    times.push(numberOf(result, time))
    tasks.push(longestOf(result))
    details.push(pick(result, detail))
  }
  console.log(
    `${what.padEnd(48)} ${shown(times).padEnd(24)} ms, longest task ${Math.max(...tasks)
      .toFixed(0)
      .padStart(3)} ms, ${detail}: ${String(details.at(-1))}`,
  )
  return { what, median: percentile(times, 50) ?? 0, longestTask: Math.max(...tasks) }
}

await using part = await servePart('history-page.tsx')
const { url } = part
const chromium = await startChromium(process.env['CHROMIUM'] ?? '/usr/bin/chromium')
try {
  const tab = chromium.person({ viewport: { width: 1280, height: 800 } }).tab()
  const openedMs: number[] = [],
    searchedMs: number[] = []
  for (const messages of [20, 100]) {
    const user = `of ${messages}`
    await tab.goto(url)
    await tab.until('typeof fillHistory === "function"')
    const keptMs = Number(await tab.evaluate(`fillHistory('${user}', ${conversations}, ${messages})`))
    console.log(
      `${`${conversations} conversations of ${messages} messages: kept`.padEnd(48)} ${keptMs.toFixed(1)} ms each`,
    )
    openedMs.push(
      (await repeated(tab, url, 'opened, until the list is read', `measureOpening('${user}')`, 'read', 'rows')).median,
    )
    openedMs.push(
      (
        await repeated(
          tab,
          url,
          'opened, until the first rows are painted',
          `measureOpening('${user}')`,
          'painted',
          'rows',
        )
      ).median,
    )
    for (const query of ['needle', 'AN Tion', 'nowhere']) {
      const { median } = await repeated(
        tab,
        url,
        `searched: ${query}`,
        `measureSearch('${user}', '${query}')`,
        'ms',
        'found',
      )
      if (messages === 20) searchedMs.push(median)
    }
  }
  const openMs = Math.round(Math.max(...openedMs)),
    searchMs = Math.round(Math.max(...searchedMs))
  console.log(JSON.stringify({ conversations, openMs, searchMs }))
  process.exitCode = openMs < openMsMax && searchMs < searchMsMax ? 0 : 1
} finally {
  await chromium.close()
}
