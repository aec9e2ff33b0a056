import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { faultUpstream, type Script } from '../../test/fakes/fault-upstream.ts'
import { status } from '../../test/fakes/faults/status.ts'
import { answering, breaking, type Language, type Piece } from '../../test/fakes/languages/language.ts'
import { startService } from '../../test/harness.ts'
import type { Verdict } from './report.ts'
import { entryOf, languageAt, languages, resultsIn } from './upstreams.ts'

/**
 * How the first provider answers: with 503, a stream that is cut in its text, in the call or behind it, an error within
 * the call, or well.
 */
const ways = ['503', 'cut', 'call', 'late', 'error', 'well'] as const
type Way = (typeof ways)[number]

/** A program that writes code by running commands. */
export interface Coder {
  readonly name: string
  /** Its name for `svc connect`, which writes its settings. */
  readonly connectName: string
  readonly speaks: Language['name']
  readonly binary: string
  readonly flags: readonly string[]
  /** Its tool that runs a command, and the arguments of that. */
  readonly tool: string
  readonly input: (command: string) => object
  /** The failures that it survives. Absent: all. */
  readonly survives?: readonly Way[]
}

/** The coding programs of package.json. */
export const coders: readonly Coder[] = [
  {
    name: 'Claude Code',
    connectName: 'claude-code',
    speaks: 'messages',
    binary: 'claude',
    flags: ['-p', '--allowedTools', 'Bash', '--'],
    tool: 'Bash',
    input: (command) => ({ command, description: 'One step' }),
  },
  {
    name: 'Codex',
    connectName: 'codex',
    speaks: 'responses',
    binary: 'codex',
    flags: ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'],
    tool: 'exec_command',
    input: (cmd) => ({ cmd }),
  },
  {
    name: 'Gemini CLI',
    connectName: 'gemini-cli',
    speaks: 'gemini',
    binary: 'gemini',
    flags: ['--yolo', '--skip-trust', '-p'],
    tool: 'run_shell_command',
    input: (command) => ({ command }),
  },
  {
    name: 'opencode',
    connectName: 'opencode',
    speaks: 'chat',
    binary: 'opencode',
    flags: ['run'],
    tool: 'bash',
    input: (command) => ({ command, description: 'One step' }),
    // It ends at an error within an answer.
    survives: ['503', 'cut', 'well'],
  },
]

const steps = 20
const coderMs = 300_000
const ended = 'All steps are done.'

/** The same numbers from 0 to 1 for the same seed (a linear congruential generator). */
function randomly(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** The pieces of the answer to a request: the next step, or the end. */
function answerTo({ tool, input }: Coder, language: Language, body: string): readonly Piece[] {
  // Programs also ask for titles and summaries, without tools.
  if (!body.includes(`"${tool}"`)) return [{ kind: 'text', text: 'Twenty steps' }]
  const step = resultsIn(language, body) + 1
  if (step > steps) return [{ kind: 'text', text: ended }]
  const command = `echo ${step} >> steps.log && echo content ${step} > file-${step}.txt`
  return [
    { kind: 'text', text: `This is step ${step} of ${steps}. ` },
    { kind: 'call', call: { id: `call_step_${step}`, name: tool, input: input(command) } },
  ]
}

/** Answers well, but for the first request of some steps: `failing` counts those. */
function scripted(
  coder: Coder,
  provider: Language,
  failing?: { readonly random: () => number; count: number },
): Script {
  const { survives = ways } = coder
  const planned = new Set<string>()
  return (exchange) => {
    const language = languageAt(provider, exchange.hit.path)
    const body = new TextDecoder().decode(exchange.hit.body)
    const pieces = answerTo(coder, language, body)
    const step = `${pieces.length} ${resultsIn(language, body)}`
    const isFirst = failing !== undefined && !planned.has(step)
    const way = isFirst ? (survives[Math.floor(failing.random() * survives.length)] ?? 'well') : 'well'
    planned.add(step)
    if (isFirst && way !== 'well') failing.count++
    switch (way) {
      case '503':
        return status(503)(exchange)
      case 'cut':
        return breaking(language, pieces.slice(0, 1), 'cut')(exchange)
      case 'call':
        return breaking(language, pieces, 'cut')(exchange)
      case 'late':
        return breaking(language, pieces, 'late')(exchange)
      case 'error':
        return breaking(language, pieces, 'error')(exchange)
      case 'well':
        return answering(language, pieces)(exchange)
    }
  }
}

/** Lets a coder do twenty steps over a provider of each format, with a provider before it that fails at random. */
export async function runCoder(coder: Coder, seed: number, report: (verdict: Verdict) => void): Promise<void> {
  for (const language of languages) {
    const failing = { random: randomly(seed), count: 0 }
    const first = faultUpstream(scripted(coder, language, failing))
    const second = faultUpstream(scripted(coder, language))
    const service = await startService({
      providers: [entryOf('first', language, first, ['m']), entryOf('second', language, second, ['m'])],
    })
    const home = await mkdtemp(join(tmpdir(), 'svc-coder-'))
    try {
      const reason = await workOf(coder, service.url, home)
      report({
        program: coder.name,
        provider: language.title,
        scenario: `${steps} steps`,
        reason: reason ?? (failing.count === 0 ? 'the first provider never failed' : undefined),
        note: `${failing.count} failures`,
      })
    } finally {
      await service.stop()
      for (const each of [first, second]) each.stop()
      await rm(home, { recursive: true, force: true })
    }
  }
}

/** Sets a coder up, and lets it work. @returns why its work is not right */
async function workOf({ connectName, binary, flags }: Coder, url: string, home: string): Promise<string | undefined> {
  const folder = join(home, 'work')
  await mkdir(folder)
  const root = join(import.meta.dir, '..', '..')
  const connect = ['sh', join(root, 'bin', 'svc'), 'connect', connectName, '--write', '--url', url]
  const set = await run(connect, home, folder)
  if (set.code !== 0) return `svc connect: ${set.output}`
  const command = [join(import.meta.dir, 'node_modules', '.bin', binary), ...flags, 'Do the twenty steps.']
  const { code, output } = await run(command, home, folder)
  if (code !== 0) return `exit code ${code}: ${output.slice(-300)}`
  if (!output.includes(ended)) return `it did not say that it is done: ${output.slice(-300)}`
  return judgeFiles(folder)
}

async function run(command: readonly string[], home: string, cwd: string) {
  const child = Bun.spawn([...command], {
    cwd,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: coderMs,
    killSignal: 'SIGKILL',
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: home,
      DISABLE_AUTOUPDATER: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    },
  })
  const [out, errors, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { code, output: `${errors}\n${out}` }
}

/** Every command must have run once, in order. */
async function judgeFiles(folder: string): Promise<string | undefined> {
  const numbers = Array.from({ length: steps }, (_, index) => index + 1)
  const log = await readFile(join(folder, 'steps.log'), 'utf8').catch(() => '')
  if (log !== numbers.map((step) => `${step}\n`).join(''))
    return `the commands ran as ${log.trim().split('\n').join(' ')}`
  for (const step of numbers) {
    if ((await readFile(join(folder, `file-${step}.txt`), 'utf8')) !== `content ${step}\n`)
      return `file ${step} is wrong`
  }
  const files = await readdir(folder)
  return files.length === steps + 1 ? undefined : `there are ${files.length} files`
}
