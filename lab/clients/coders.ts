import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { faultUpstream, type Script } from '../../test/fakes/fault-upstream.ts'
import { status } from '../../test/fakes/faults/status.ts'
import { answering, breaking, type Language, type Piece } from '../../test/fakes/languages/language.ts'
import { startService } from '../../test/harness.ts'
import type { Verdict } from './report.ts'
import { templates, templateServer } from './templates.ts'
import { entryOf, languageAt, languages, resultsIn } from './upstreams.ts'

/**
 * How the first provider answers: with 503, a stream that is cut in its text, in the call or behind it, an error within
 * the call, or well.
 */
const ways = ['503', 'cut', 'call', 'late', 'error', 'well'] as const
type Way = (typeof ways)[number]
/** Of programs that end at an error within an answer. */
const untilCut: readonly Way[] = ['503', 'cut', 'well']

/** A program that writes code by running commands. */
export interface Coder {
  readonly name: string
  /** Its name for `svc connect`, which writes its settings and prints the command that starts it. */
  readonly connectName: string
  readonly speaks: Language['name']
  /** Flags behind that command, so that it does one task without questions. */
  readonly flags: string
  /** Variables that change the format. */
  readonly variables?: (url: string) => Readonly<Record<string, string>>
  /** Its tool that runs a command, and the arguments of that. */
  readonly tool: string
  readonly input: (command: string) => object
  /** In the body of a request that is not about the task. */
  readonly aside?: RegExp
  /** The failures that it survives. Absent: all. */
  readonly survives?: readonly Way[]
}

/** The coding programs of package.json. */
export const coders: readonly Coder[] = [
  {
    name: 'Claude Code',
    connectName: 'claude-code',
    speaks: 'messages',
    flags: '-p --allowedTools Bash --',
    tool: 'Bash',
    input: (command) => ({ command, description: 'One step' }),
  },
  {
    name: 'Codex',
    connectName: 'codex',
    speaks: 'responses',
    flags: 'exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox',
    tool: 'exec_command',
    input: (cmd) => ({ cmd }),
  },
  {
    name: 'Gemini CLI',
    connectName: 'gemini-cli',
    speaks: 'gemini',
    flags: '--yolo --skip-trust -p',
    tool: 'run_shell_command',
    input: (command) => ({ command }),
  },
  {
    name: 'opencode',
    connectName: 'opencode',
    speaks: 'chat',
    flags: 'run',
    tool: 'bash',
    input: (command) => ({ command, description: 'One step' }),
    survives: untilCut,
  },
  {
    name: 'Cline',
    connectName: 'cline',
    speaks: 'chat',
    flags: '',
    tool: 'run_commands',
    input: (command) => ({ commands: [command] }),
    survives: untilCut,
  },
  {
    name: 'Continue',
    connectName: 'continue',
    speaks: 'chat',
    flags: '--auto -p',
    tool: 'Bash',
    input: (command) => ({ command }),
    survives: untilCut,
  },
  ...copilots(),
  {
    name: 'Qwen Code',
    connectName: 'qwen-code',
    speaks: 'chat',
    flags: '--yolo -p',
    tool: 'run_shell_command',
    input: (command) => ({ command, is_background: false }),
    // It looks for something to remember, after each answer.
    aside: /managed memory/,
  },
  {
    name: 'pi, coding agent',
    connectName: 'pi',
    speaks: 'chat',
    flags: '-p',
    tool: 'bash',
    input: (command) => ({ command }),
    survives: untilCut,
  },
]

/** GitHub's, in each format that it knows. */
function copilots(): readonly Coder[] {
  const coder: Coder = {
    name: 'Copilot CLI',
    connectName: 'copilot',
    speaks: 'chat',
    flags: '--allow-all-tools -p',
    tool: 'bash',
    input: (command) => ({ command, description: 'One step' }),
  }
  return [
    coder,
    {
      ...coder,
      name: 'Copilot CLI, Responses',
      speaks: 'responses',
      variables: () => ({ COPILOT_PROVIDER_WIRE_API: 'responses' }),
    },
    {
      ...coder,
      name: 'Copilot CLI, Messages',
      speaks: 'messages',
      variables: (url) => ({ COPILOT_PROVIDER_TYPE: 'anthropic', COPILOT_PROVIDER_BASE_URL: url }),
    },
  ]
}

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
function answerTo({ tool, input, aside }: Coder, language: Language, body: string): readonly Piece[] {
  // Programs also ask for titles and summaries, without tools.
  if (!body.includes(`"${tool}"`) || aside?.test(body) === true) return [{ kind: 'text', text: 'Twenty steps' }]
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
      await endDaemons(home)
      await rm(home, { recursive: true, force: true })
    }
  }
}

/** Lets a coder do twenty steps over llama.cpp with each template, whose refusals svc has to understand. */
export async function runTemplates(coder: Coder, report: (verdict: Verdict) => void): Promise<void> {
  const [language] = languages
  if (language === undefined) return
  for (const template of templates) {
    const server = await templateServer(template)
    const upstream = faultUpstream(server.strict(scripted(coder, language)))
    const service = await startService({ providers: [entryOf('llama', language, upstream, ['m'])] })
    const home = await mkdtemp(join(tmpdir(), 'svc-coder-'))
    try {
      report({
        program: coder.name,
        provider: `llama.cpp, template as ${template}'s`,
        scenario: `${steps} steps`,
        reason: await workOf(coder, service.url, home),
        note: `${server.refusals.length} refusals`,
      })
    } finally {
      await service.stop()
      upstream.stop()
      server.stop()
      await endDaemons(home)
      await rm(home, { recursive: true, force: true })
    }
  }
}

/** Ends what a coder leaves running, such as Cline's hub: processes with its home directory. Linux only. */
async function endDaemons(home: string): Promise<void> {
  for (const pid of (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))) {
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')
    if (environment.includes(`HOME=${home}\0`)) Bun.spawnSync(['kill', pid])
  }
}

/** How all providers fail: in a way that may pass, and in one that another attempt cannot help. */
const outages = [
  { scenario: 'all answer 503', status: 503 },
  { scenario: 'all answer 401', status: 401 },
] as const
/** Requests of a program about one task whose providers all fail. More would be an outage of its own. */
const outageRequestsMax = 12

/** Lets a coder meet an outage of all providers, and counts its requests. */
export async function runOutages(coder: Coder, report: (verdict: Verdict) => void): Promise<void> {
  const language = languages.find(({ name }) => name === coder.speaks)
  if (language === undefined) return
  for (const { scenario, status: code } of outages) {
    const upstream = faultUpstream(status(code))
    const service = await startService({
      providers: ['first', 'second'].map((id) => entryOf(id, language, upstream, ['m'])),
    })
    const home = await mkdtemp(join(tmpdir(), 'svc-coder-'))
    const startedMs = performance.now()
    try {
      await worked(coder, service.url, home)
    } finally {
      await service.stop()
      upstream.stop()
      await endDaemons(home)
      await rm(home, { recursive: true, force: true })
    }
    const seconds = Math.round((performance.now() - startedMs) / 1000)
    const requests = service.logs.filter(({ message }) => message === 'request').length
    const isFew = requests > 0 && requests <= outageRequestsMax
    report({
      program: coder.name,
      provider: language.title,
      scenario,
      reason: isFew ? undefined : `expected 1 to ${outageRequestsMax} requests`,
      note: `${requests} requests in ${seconds} s`,
    })
  }
}

/** Sets a coder up, and lets it work. @returns why its work is not right */
async function workOf(coder: Coder, url: string, home: string): Promise<string | undefined> {
  const { code, output } = await worked(coder, url, home)
  if (code !== 0) return `exit code ${code}: ${output.slice(-300)}`
  if (!output.includes(ended)) return `it did not say that it is done: ${output.slice(-300)}`
  return judgeFiles(join(home, 'work'))
}

/** Sets a coder up, and lets it work in a folder of `home`. */
async function worked(coder: Coder, url: string, home: string) {
  const folder = join(home, 'work')
  await mkdir(folder)
  const svc = join(import.meta.dir, '..', '..', 'bin', 'svc')
  const connect = ['sh', svc, 'connect', coder.connectName, '--url', url]
  const written = await run([...connect, '--write'], home, folder)
  // Some are set up by commands.
  const set = written.code === 2 ? await run(connect, home, folder) : written
  if (set.code !== 0) throw new Error(`svc connect: ${set.output}`)
  return run(['sh', '-e', '-c', scriptOf(coder, url, set.output)], home, folder)
}

/** The printed commands, of which the last starts the program: here with flags and a task. */
function scriptOf({ flags, variables }: Coder, url: string, printed: string): string {
  const lines = printed.trimEnd().split(printed.includes('\n\n') ? /^[^]*\n\n|\n/ : '\n')
  const commands = lines.filter((line) => line !== '' && !line.endsWith(' written'))
  const exports = Object.entries(variables?.(url) ?? {}).map(([name, value]) => `export ${name}=${value}`)
  return [...commands.slice(0, -1), ...exports, `exec ${commands.at(-1)} ${flags} 'Do the twenty steps.'`].join('\n')
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
      PATH: `${join(import.meta.dir, 'node_modules', '.bin')}:${process.env['PATH'] ?? ''}`,
      HOME: home,
      DISABLE_AUTOUPDATER: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    },
  })
  const output = Promise.all([new Response(child.stderr).text(), new Response(child.stdout).text()])
  const code = await child.exited
  // A process that a program leaves running keeps its output open.
  await endDaemons(home)
  return { code, output: (await output).join('\n') }
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
