import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { faultUpstream } from '../test/fakes/fault-upstream.ts'
import { anthropic } from '../test/fakes/format-fakes.ts'
import { good } from '../test/fakes/good.ts'
import { price } from '../test/fakes/metered.ts'

/** How many files of src one request touches, and how many lines of them run. */
export interface Touched {
  readonly name: string
  readonly files: readonly string[]
  readonly lines: number
}

const root = join(import.meta.dir, '..')

const limits = [
  { for: 'everyone', usd: 200, per: 'month' },
  { for: 'each key', usd: 5, per: 'day', requests: 60, tokens: 200_000, at_once: 8 },
]

const requests = [
  { name: 'plain', model: 'm', stream: false, isBudgeted: false },
  { name: 'streamed', model: 'm', stream: true, isBudgeted: false },
  { name: 'translated and streamed', model: 'claude', stream: true, isBudgeted: false },
  { name: 'budgeted, translated and streamed', model: 'claude', stream: true, isBudgeted: true },
]

/** Compares what runs with and without one request: lines of src that ran more often. Takes some 30 s. */
export async function touchedFiles(): Promise<readonly Touched[]> {
  const home = mkdtempSync(join(tmpdir(), 'svc-touched-'))
  const upstreams = [faultUpstream(good()), faultUpstream(anthropic.says('good-0 good-1 good-2'))]
  try {
    const [chat, messages] = upstreams.map(({ url }) => url)
    const config = {
      providers: [
        { id: 'chat', base_url: chat, models: [{ name: 'm', price }] },
        { id: 'messages', base_url: messages, protocol: 'anthropic', models: [{ name: 'claude', price }] },
      ],
    }
    writeFileSync(join(home, 'providers.json'), JSON.stringify(config), { mode: 0o600 })
    const without = await countsOf(home, {})
    writeFileSync(join(home, 'access.json'), JSON.stringify({ limits }), { mode: 0o600 })
    const key = await run(home, ['sh', 'bin/svc', 'keys', 'make', '--name', 'measure'], {})
    const budgeted = { ONE_KEY: key.trim(), ONE_FLAGS: '--auth keys' }
    const withoutBudgeted = await countsOf(home, { ONE_FLAGS: budgeted.ONE_FLAGS })
    rmSync(join(home, 'access.json'))
    const touched: Touched[] = []
    for (const { name, model, stream, isBudgeted } of requests) {
      if (isBudgeted) writeFileSync(join(home, 'access.json'), JSON.stringify({ limits }), { mode: 0o600 })
      const body = { model, stream, max_tokens: 20, messages: [{ role: 'user', content: 'Hi' }] }
      const counts = await countsOf(home, { ...(isBudgeted ? budgeted : {}), ONE_REQUEST: JSON.stringify(body) })
      touched.push({ name, ...difference(counts, isBudgeted ? withoutBudgeted : without) })
    }
    return touched
  } finally {
    await Promise.all(upstreams.map((upstream) => upstream.stop()))
    rmSync(home, { recursive: true, force: true })
  }
}

async function run(home: string, command: readonly string[], environment: Record<string, string>): Promise<string> {
  const child = Bun.spawn([...command], {
    cwd: root,
    env: { PATH: process.env['PATH'] ?? '', HOME: home, SVC_HOME: home, SVC_DRAIN_WINDOW_MS: '0', ...environment },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  if (code !== 0) throw new Error(`${command.join(' ')}: ${err}`)
  return out
}

/** Lines by file → how often each ran. */
type Counts = ReadonlyMap<string, ReadonlyMap<number, number>>

async function countsOf(home: string, environment: Record<string, string>): Promise<Counts> {
  const folder = join(home, 'coverage')
  const coverage = ['--coverage', '--coverage-reporter=lcov', `--coverage-dir=${folder}`]
  await run(home, [process.execPath, 'test', ...coverage, './scripts/one-request.ts'], environment)
  const counts = new Map<string, Map<number, number>>()
  for (const part of readFileSync(join(folder, 'lcov.info'), 'utf8').split('end_of_record')) {
    const file = /^SF:(src\/.*)$/m.exec(part)?.[1]
    if (file === undefined) continue
    counts.set(
      file,
      new Map(Array.from(part.matchAll(/^DA:(\d+),(\d+)/gm), ([, line, count]) => [Number(line), Number(count)])),
    )
  }
  return counts
}

function difference(counts: Counts, before: Counts): Pick<Touched, 'files' | 'lines'> {
  const files: string[] = []
  let lines = 0
  for (const [file, ran] of counts) {
    const more = [...ran].filter(([line, count]) => count > (before.get(file)?.get(line) ?? 0)).length
    if (more > 0) files.push(file)
    lines += more
  }
  return { files, lines }
}
