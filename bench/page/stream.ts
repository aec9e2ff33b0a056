import { join } from 'node:path'
import { parseJson, pick } from '../../test/client.ts'
import { readLines } from '../../test/lines.ts'
import { percentile } from '../statistics.ts'
import { servePart } from './part-server.ts'
import { documents } from './stream-documents.ts'

/**
 * Measures streaming in Chromium: 100 KB of Markdown at 200 chunks a second, for a realistic answer and for the worst
 * ones. `stream.ts [NAME…]`; `CHROMIUM` is the path of the browser. Exit code 1 when a frame took 50 ms or more. On a
 * busy machine frames wait for the processor; the column of tasks shows the CPU time of the page itself.
 */

const characters = 100_000,
  chunkCharacters = 50,
  chunksPerSecond = 200,
  frameMsMax = 50
const columns = [
  'frame p50',
  'p95',
  'max',
  'work p50',
  'p95',
  'max',
  'first ¼',
  'last ¼',
  'task p99',
  'max',
  'first ¼',
  'last ¼',
]

function numbersOf(result: unknown, name: string): readonly number[] {
  const value = pick(result, name)
  return Array.isArray(value) ? value.map(Number) : []
}

/**
 * The highest value of a part of the run. The first seven eighths are the stream; the rest is work after its end,
 * mostly colours.
 */
function highest(values: readonly number[], from: number, to: number): number {
  return Math.max(0, ...values.slice(Math.floor(values.length * from), Math.ceil(values.length * to)))
}

interface Longest {
  readonly frameMs: number
  readonly taskMs: number
  readonly earlyTaskMs: number
  readonly lateTaskMs: number
}

/** Prints a line of figures. @returns the longest frame and tasks: overall, and in the first and last quarter */
function report(name: string, result: unknown): Longest {
  const frames = numbersOf(result, 'frames'),
    work = numbersOf(result, 'work'),
    tasks = numbersOf(result, 'taskProcessorMs')
  const figures = [
    percentile(frames, 50) ?? 0,
    percentile(frames, 95) ?? 0,
    highest(frames, 0, 1),
    percentile(work, 50) ?? 0,
    percentile(work, 95) ?? 0,
    highest(work, 0, 1),
    highest(work, 0, 0.25),
    highest(work, 0.6, 0.85),
    percentile(tasks, 99) ?? 0,
    highest(tasks, 0, 1),
    highest(tasks, 0, 0.25),
    highest(tasks, 0.6, 0.85),
  ]
  const cells = figures.map((figure) => figure.toFixed(1).padStart(10))
  const longTasks = String(numbersOf(result, 'longTasks').length).padStart(6)
  const elements = String(pick(result, 'elements')).padStart(9)
  console.log(name.padEnd(17) + cells.join('') + longTasks + elements)
  return {
    frameMs: highest(frames, 0, 1),
    taskMs: highest(tasks, 0, 1),
    earlyTaskMs: highest(tasks, 0, 0.25),
    lateTaskMs: highest(tasks, 0.6, 0.85),
  }
}

const wanted = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(documents)
await using part = await servePart('stream-page.tsx')
const calls = wanted.map(
  (name) => `measureStream(${JSON.stringify(name)}, ${characters}, ${chunkCharacters}, ${chunksPerSecond})`,
)
const browser = Bun.spawn(
  [
    'node',
    join(import.meta.dir, 'stream-browser.mjs'),
    process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    part.url,
    ...calls,
  ],
  { stdout: 'pipe', stderr: 'inherit' },
)
console.log(`${'ms'.padEnd(17)}${columns.map((column) => column.padStart(10)).join('')}  long elements`)
const longest: Longest[] = []
await readLines(browser.stdout, (text) => {
  longest.push(report(wanted[longest.length] ?? '', parseJson(text)))
})
const most = (name: keyof Longest): number => Math.max(...longest.map((each) => each[name]))
console.log(
  JSON.stringify({
    documents: wanted.length,
    frameMs: most('frameMs'),
    taskMs: most('taskMs'),
    earlyTaskMs: most('earlyTaskMs'),
    lateTaskMs: most('lateTaskMs'),
  }),
)
process.exitCode = (await browser.exited) === 0 && most('frameMs') < frameMsMax ? 0 : 1
