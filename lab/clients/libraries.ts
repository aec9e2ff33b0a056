import { join } from 'node:path'
import type { Language } from '../../test/fakes/languages/language.ts'
import { startService } from '../../test/harness.ts'
import { readLines } from '../../test/lines.ts'
import { python } from './install.ts'
import type { Verdict } from './report.ts'
import { languageAt, languages, resultsIn, said, scriptedPair, type ScriptedPair } from './upstreams.ts'

/** A library, as a script in `programs/`. */
export interface Library {
  readonly name: string
  /** The script, for Node or Python by its name, and its arguments behind the address. */
  readonly command: readonly [string, ...string[]]
  /** The format that it speaks. */
  readonly speaks: Language['name']
  /** Its scenarios; absent: all. */
  readonly scenarios?: readonly string[]
}

const allButReasoning = ['text', 'stream', 'tools', 'structured', 'image', 'abort', 'cut', 'down', 'late']
/** Of libraries above the others. */
const common = allButReasoning.filter((name) => name !== 'abort')
/** LangChain sends images only to models whose names it knows. */
const withoutImage = common.filter((name) => name !== 'image')

function inPython(name: string, command: Library['command'], speaks: Library['speaks'], scenarios = common): Library {
  return { name: `Python, ${name}`, command, speaks, scenarios }
}

/** The libraries of package.json. */
export const libraries: readonly Library[] = [
  { name: 'openai, chat', command: ['openai-chat.mjs'], speaks: 'chat' },
  { name: 'openai, Responses', command: ['openai-responses.mjs'], speaks: 'responses' },
  { name: '@anthropic-ai/sdk', command: ['anthropic.mjs'], speaks: 'messages' },
  { name: 'ai, @ai-sdk/openai', command: ['ai.mjs', 'openai'], speaks: 'responses' },
  { name: 'ai, @ai-sdk/openai-compatible', command: ['ai.mjs', 'compatible'], speaks: 'chat' },
  { name: 'ai, @ai-sdk/anthropic', command: ['ai.mjs', 'anthropic'], speaks: 'messages' },
  { name: 'ai, @ai-sdk/google', command: ['ai.mjs', 'google'], speaks: 'gemini' },
  { name: '@openai/agents', command: ['agents.mjs'], speaks: 'responses' },
  { name: '@google/genai', command: ['genai.mjs'], speaks: 'gemini' },
  { name: 'LangChain, chat', command: ['langchain.mjs', 'chat'], speaks: 'chat', scenarios: common },
  { name: 'LangChain, Responses', command: ['langchain.mjs', 'responses'], speaks: 'responses', scenarios: common },
  { name: 'LangChain, Messages', command: ['langchain.mjs', 'messages'], speaks: 'messages', scenarios: common },
  { name: 'LangChain, Gemini', command: ['langchain.mjs', 'gemini'], speaks: 'gemini', scenarios: withoutImage },
  { name: 'LlamaIndex', command: ['llamaindex.mjs'], speaks: 'chat', scenarios: common },
  { name: 'Mastra', command: ['mastra.mjs'], speaks: 'chat', scenarios: common },
  inPython('openai, chat', ['sdk_openai.py', 'chat'], 'chat', allButReasoning),
  inPython('openai, Responses', ['sdk_openai.py', 'responses'], 'responses', allButReasoning),
  inPython('anthropic', ['sdk_anthropic.py'], 'messages', allButReasoning),
  inPython('google-genai', ['sdk_google.py'], 'gemini', allButReasoning),
  inPython('langchain-openai, chat', ['run_langchain.py', 'chat'], 'chat'),
  inPython('langchain-openai, Responses', ['run_langchain.py', 'responses'], 'responses'),
  inPython('langchain-anthropic', ['run_langchain.py', 'messages'], 'messages'),
  inPython('LlamaIndex, openai-like', ['run_llamaindex.py'], 'chat'),
  inPython('pydantic-ai, chat', ['run_pydantic_ai.py', 'chat'], 'chat'),
  inPython('pydantic-ai, Responses', ['run_pydantic_ai.py', 'responses'], 'responses'),
  inPython('pydantic-ai, Gemini', ['run_pydantic_ai.py', 'gemini'], 'gemini'),
  inPython('litellm, openai', ['run_litellm.py', 'chat'], 'chat'),
  inPython('litellm, anthropic', ['run_litellm.py', 'messages'], 'messages'),
]

/** What a scenario of a program printed. */
interface Outcome {
  readonly seen?: unknown
  readonly failed?: { readonly message: string; readonly kind?: string; readonly status?: number }
}

/** What must be seen. `fails`: the library must report an error. */
type Expectation = { readonly seen: object } | 'fails'

const expected: Readonly<Record<string, Expectation>> = {
  text: { seen: { text: said.text } },
  stream: { seen: { text: said.text } },
  tools: { seen: { text: said.afterTools, ran: ['Rome', 'Oslo'] } },
  structured: { seen: { value: said.structured } },
  image: { seen: { text: said.text } },
  reasoning: { seen: { text: said.afterTools, thinking: said.thinking } },
  abort: { seen: { aborted: true } },
  cut: { seen: { text: said.text } },
  down: 'fails',
  late: 'fails',
}

/** Columns of the table. */
export const scenarios: readonly string[] = Object.keys(expected)
const alone = ['down', 'late']
const programMs = 240_000

/** Runs a library over a provider of each format, the first provider failing. */
export async function runLibrary(library: Library, report: (verdict: Verdict) => void): Promise<void> {
  for (const language of languages) {
    const pair = scriptedPair(language, scenarios, alone)
    const service = await startService({ providers: pair.entries })
    try {
      const outcomes = await runProgram(library, service.url)
      for (const scenario of outcomes.size === 1 ? ['text'] : (library.scenarios ?? scenarios)) {
        const reason = judge(scenario, outcomes.get(scenario)) ?? (await judgeProvider(scenario, language, pair))
        report({ program: library.name, provider: language.title, scenario, reason })
      }
    } finally {
      await service.stop()
      pair.stop()
    }
  }
}

async function runProgram({ command: [script, ...rest] }: Library, url: string): Promise<ReadonlyMap<string, Outcome>> {
  const outcomes = new Map<string, Outcome>()
  const program = script.endsWith('.py')
    ? [python, join(import.meta.dir, 'python', script)]
    : ['node', join(import.meta.dir, 'programs', script)]
  const child = Bun.spawn([...program, url, ...rest], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: programMs,
    killSignal: 'SIGKILL',
    env: { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', PYTHONDONTWRITEBYTECODE: '1' },
  })
  const errors: string[] = []
  const note = (line: string) => {
    if (!line.startsWith('{"name":')) return errors.push(line)
    const { name, ...outcome }: { readonly name: string } & Outcome = JSON.parse(line)
    outcomes.set(name, outcome)
    return undefined
  }
  await Promise.all([
    readLines(child.stdout, note),
    readLines(child.stderr, (line) => void errors.push(line)),
    child.exited,
  ])
  if (outcomes.size === 0) outcomes.set('text', { failed: { message: errors.slice(0, 5).join(' ') } })
  return outcomes
}

/** Why the outcome is not the expected one; undefined if it is. */
function judge(scenario: string, outcome: Outcome | undefined): string | undefined {
  const wanted = expected[scenario]
  if (outcome === undefined) return 'the program printed nothing'
  const { seen, failed } = outcome
  if (wanted === 'fails') return failed === undefined ? `no error, but ${JSON.stringify(seen)}` : undefined
  if (failed !== undefined) return `${failed.kind ?? 'error'} ${failed.status ?? ''}: ${failed.message}`
  return Bun.deepEquals(seen, wanted?.seen) ? undefined : `saw ${JSON.stringify(seen)}`
}

/** Why a provider did not see what it should; undefined if it did. */
async function judgeProvider(
  scenario: string,
  language: Language,
  { first, main }: ScriptedPair,
): Promise<string | undefined> {
  const mark = `[[${scenario}]]`
  const heard = (hits: ScriptedPair['main']['hits']) =>
    hits.filter(({ body }) => new TextDecoder().decode(body).includes(mark))
  if (heard(first.hits).length === 0) return 'the first provider was not asked'
  const reached = heard(main.hits)
  if (alone.includes(scenario)) return undefined
  const last = reached.at(-1)
  if (last === undefined) return 'the second provider was not asked'
  const body = new TextDecoder().decode(last.body)
  switch (scenario) {
    case 'image':
      return body.includes('iVBORw0KGgo') ? undefined : 'the provider did not get the image'
    case 'structured':
      return body.includes('population_of_matrix') ? undefined : 'the provider did not get the schema'
    case 'tools':
      return resultsIn(languageAt(language, last.path), body) === 2 ? undefined : 'the provider did not get two results'
    case 'abort':
      return (await Promise.race([last.left, Bun.sleep(5_000)])) === undefined
        ? 'the provider’s work went on'
        : undefined
    default:
      return undefined
  }
}
