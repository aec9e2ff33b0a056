import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { languages, type Language } from '../../scripts/inline-texts.ts'
import { isRecord } from '../../src/base/json-value.ts'
import { startService } from '../../test/harness.ts'
import { needs } from '../../test/needs.ts'
import { markdownTable } from '../table.ts'
import { measureSizes, sizeLimits, type Sizes } from './sizes.ts'

/**
 * `npm run bench:page`: measures the size of the page, its Lighthouse scores, streaming and opening a long history, and
 * compares them with targets. Exit code 1 when a target is missed. `npm run bench:page -- history` measures only the
 * history; `--help` lists its options.
 */

/** One line of the report. */
interface Line {
  readonly what: string
  readonly figure: string
  readonly target: string
  readonly isMet: boolean
}

const folder = import.meta.dir
const root = join(folder, '..', '..')
const chromium = needs('chromium')
if (chromium === undefined)
  throw new Error('the bench of the page needs Chromium (on Debian: apt-get install chromium)')

async function output(...command: readonly string[]): Promise<string> {
  const child = Bun.spawn([...command], {
    cwd: folder,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
    env: { ...process.env, CHROMIUM: chromium },
  })
  const text = await child.stdout.text()
  // Exit code 1: the measure ran, and a target was missed.
  if ((await child.exited) > 1) throw new Error(`${command.join(' ')} failed`)
  return text
}

/** Reads the JSON object in the last line of a measure's output. */
async function figures(...command: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
  const parsed: unknown = JSON.parse((await output(...command)).trim().split('\n').at(-1) ?? '')
  if (!isRecord(parsed)) throw new Error(`${command.join(' ')} gave no figures`)
  return parsed
}

const kilobytes = (bytes: number): string => `${(bytes / 1_000).toFixed(1)} KB`

function atMost(what: string, bytes: number, most: number): Line {
  return { what, figure: kilobytes(bytes), target: `≤ ${kilobytes(most)}`, isMet: bytes <= most }
}

const sizeWords: Readonly<Record<keyof Sizes, string>> = {
  beforeFirstPaint: 'script before first paint, gzip',
  chatPage: 'script of the chat page, gzip',
  panel: 'the largest part that is loaded when it is opened, gzip',
  highlighter: 'highlighter and tools of code, with the first block of code',
  formulas: 'library of formulas, with the first formula',
  style: 'style, gzip',
}

function sizes(language: Language): readonly Line[] {
  const measured = measureSizes(join(root, 'dist', 'web'), language)
  return (Object.keys(sizeWords) as (keyof Sizes)[]).map((name) =>
    atMost(`${sizeWords[name]}, ${language}`, measured[name], sizeLimits[name]),
  )
}

async function lighthouse(what: string, url: string): Promise<readonly Line[]> {
  const { performance, accessibility, bestPractices, failed, firstPaintMs, largestPaintMs, blockingMs, shift } =
    await figures('node', 'lighthouse.mjs', chromium ?? '', url, '3')
  const paints = `first paint ${firstPaintMs} ms, largest ${largestPaintMs} ms`
  const detail = `${paints}, blocked ${blockingMs} ms, shift ${Number(shift).toFixed(3)}`
  return [
    {
      what: `Lighthouse, ${what}: performance`,
      figure: `${performance} (${detail})`,
      target: '≥ 95',
      isMet: Number(performance) >= 95,
    },
    {
      what: `Lighthouse, ${what}: accessibility`,
      figure: String(accessibility),
      target: '100',
      isMet: accessibility === 100,
    },
    {
      what: `Lighthouse, ${what}: best practices`,
      figure: `${bestPractices}${Array.isArray(failed) && failed.length > 0 ? ` (${failed.join(', ')})` : ''}`,
      target: '100',
      isMet: bestPractices === 100,
    },
  ]
}

async function lighthouses(): Promise<readonly Line[]> {
  await using open = await startService({ providers: [{ id: 'echo' }] })
  await using closed = await startService(
    { providers: [{ id: 'echo' }] },
    { flags: ['--auth', 'provider_auth'], files: { 'users/default/provider_auth/config.json': '{}' } },
  )
  return [...(await lighthouse('chat', `${open.url}/`)), ...(await lighthouse('sign-in', `${closed.url}/`))]
}

/** Streams several kinds of Markdown of 100 KB at 200 chunks a second. */
async function streams(): Promise<readonly Line[]> {
  const { frameMs, taskMs, earlyTaskMs, lateTaskMs } = await figures(
    process.execPath,
    'stream.ts',
    'realistic',
    'code',
    'list',
    'table',
    'paragraph',
    'formulas',
  )
  const ms = (value: unknown): string => `${Number(value).toFixed(1)} ms`
  return [
    { what: 'streaming 100 KB: longest frame', figure: ms(frameMs), target: '< 50 ms', isMet: Number(frameMs) < 50 },
    {
      what: 'streaming 100 KB: longest task, CPU',
      figure: `${ms(taskMs)} (first quarter ${ms(earlyTaskMs)}, last ${ms(lateTaskMs)})`,
      target: 'does not grow (≤ 1.5 ×)',
      isMet: Number(lateTaskMs) <= 1.5 * Number(earlyTaskMs),
    },
  ]
}

async function histories(): Promise<readonly Line[]> {
  const { conversations, openMs, searchMs } = await figures(process.execPath, 'history.ts')
  return [
    {
      what: `opening a history of ${conversations}`,
      figure: `${openMs} ms`,
      target: '≤ 200 ms',
      isMet: Number(openMs) <= 200,
    },
    {
      what: `searching ${conversations} conversations`,
      figure: `${searchMs} ms`,
      target: '≤ 100 ms',
      isMet: Number(searchMs) <= 100,
    },
  ]
}

const [only, ...rest] = process.argv.slice(2)
if (only === 'history' || only === '--help') {
  const options = only === 'history' ? rest : ['--help']
  const child = Bun.spawn([process.execPath, 'history.ts', ...options], {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, CHROMIUM: chromium },
  })
  process.exit(await child.exited)
}
await output(process.execPath, join(root, 'scripts', 'build-web.ts'), '--if-stale')
if (!existsSync(join(folder, 'node_modules', 'playwright-core')))
  await output('npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error')
const lines = [...languages.flatMap(sizes), ...(await streams()), ...(await histories()), ...(await lighthouses())]
console.log(
  markdownTable(
    ['Page', 'Figure', 'Target', 'Met'],
    lines.map(({ what, figure, target, isMet }) => [what, figure, target, isMet ? 'yes' : 'NO']),
  ),
)
process.exitCode = lines.every(({ isMet }) => isMet) ? 0 : 1
