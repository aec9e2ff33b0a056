import { join } from 'node:path'
import { aimockText, startAimock } from '../../test/fakes/aimock.ts'
import { chatLanguage } from '../../test/fakes/languages/chat.ts'
import type { Answer, Language, Question, Tool } from '../../test/fakes/languages/language.ts'
import { responsesLanguage } from '../../test/fakes/languages/responses.ts'
import { startService, type ProviderEntry } from '../../test/harness.ts'
import { readLines } from '../../test/lines.ts'
import type { Verdict } from './report.ts'
import { languages } from './upstreams.ts'

/** A mock provider that others wrote, and what callers of each format ask it through svc. */
export interface Mock {
  readonly name: string
  run(report: (verdict: Verdict) => void): Promise<void>
}

const weather: Tool = {
  name: 'get_weather',
  description: 'Tells the weather.',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false },
}

/** `@copilotkit/aimock` answers in every format; svc must get what it says. */
const aimock: Mock = {
  name: 'aimock',
  async run(report) {
    const mock = await startAimock()
    const entries = languages.map(({ name, provider }): ProviderEntry => {
      const isVersioned = name === 'chat' || name === 'responses'
      const base_url = isVersioned ? mock.url : mock.url.replace(/\/v1$/, '')
      return { id: name, base_url, api_key: 'k', ...provider.entry, models: [name] }
    })
    const service = await startService({ providers: entries })
    try {
      for (const provider of languages) {
        for (const caller of languages) {
          for (const stream of [false, true]) {
            const says = await ask(service.url, caller, { model: provider.name, stream, turns: user('hello') })
            const calls = await ask(service.url, caller, {
              model: provider.name,
              stream,
              turns: user('weather'),
              tools: [weather],
            })
            const reason =
              describeUnless(says, says.isComplete && says.text === aimockText) ??
              describeUnless(calls, calls.isComplete && Bun.deepEquals(calls.calls[0]?.input, { city: 'Bern' }))
            const scenario = `${caller.title}${stream ? ', streamed' : ''}`
            report({ program: 'aimock', provider: provider.title, scenario, reason })
          }
        }
      }
    } finally {
      await service.stop()
      await mock.stop()
    }
  },
}

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false }

const questions: Readonly<Record<string, Omit<Question, 'model' | 'stream'>>> = {
  plain: { turns: user('hello') },
  tools: { turns: user('hello'), tools: [weather] },
  image: { turns: [{ role: 'user', text: 'hello', png }] },
  structured: { turns: user('hello'), schema },
  reasoning: { turns: user('hello'), thinks: true },
}

/** `@stdy/cli` refuses what OpenAI's own description of its API does not allow. */
function steady(specification: string): Mock {
  return {
    name: 'steady',
    async run(report) {
      const mock = await startSteady(specification)
      const entry = (id: string, more: object) => ({ id, base_url: mock.url, api_key: 'k', models: [id], ...more })
      const kinds = [chatLanguage, responsesLanguage]
      const service = await startService({ providers: kinds.map(({ name, provider }) => entry(name, provider.entry)) })
      try {
        for (const provider of kinds) {
          for (const caller of languages) {
            for (const [scenario, question] of Object.entries(questions)) {
              const answer = await ask(service.url, caller, { model: provider.name, stream: false, ...question })
              // Its answers are random: only its refusals count.
              const reason = /;status=200(?:;|$)/.test(answer.trail)
                ? undefined
                : `${answer.trail} ${answer.error ?? ''}`
              report({ program: `steady, ${caller.title}`, provider: provider.title, scenario, reason })
            }
          }
        }
      } finally {
        await service.stop()
        mock.stop()
      }
    },
  }
}

async function startSteady(specification: string): Promise<{ readonly url: string; stop(): void }> {
  const binary = join(import.meta.dir, 'node_modules', '.bin', 'steady')
  const probe = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const { port } = probe
  await probe.stop(true)
  const child = Bun.spawn([binary, '--host', '127.0.0.1', '-p', String(port), '-q', specification], {
    stdout: 'pipe',
    stderr: 'pipe',
    stdin: 'ignore',
  })
  const ready = Promise.withResolvers<void>()
  const output: string[] = []
  const note = (line: string) => {
    output.push(line)
    if (line.startsWith('Ready to accept')) ready.resolve()
  }
  const read = Promise.all([readLines(child.stdout, note), readLines(child.stderr, note)])
  void read.then(() => ready.reject(new Error(`steady did not start: ${output.join(' ').slice(0, 500)}`)))
  await ready.promise
  // Its paths have no version.
  return { url: `http://127.0.0.1:${port}`, stop: () => child.kill() }
}

function user(text: string): Question['turns'] {
  return [{ role: 'user', text }]
}

async function ask(
  url: string,
  { caller }: Language,
  question: Question,
): Promise<Answer & { readonly trail: string }> {
  const body = JSON.stringify(caller.body(question))
  const response = await fetch(`${url}${caller.path(question)}`, { method: 'POST', body })
  const isStream = (response.headers.get('content-type') ?? '').startsWith('text/event-stream')
  const trail = response.headers.get('x-svc-trail') ?? ''
  return { status: response.status, trail, ...caller.read(await response.text(), isStream) }
}

function describeUnless({ status, error, text }: Answer, isRight: boolean): string | undefined {
  return isRight ? undefined : `status ${status}, ${error ?? `saw ${JSON.stringify(text)}`}`
}

/** The mocks that can be run. @param specification OpenAI's `openapi.json` or `.yaml`; absent: steady is not run */
export function mocksOf(specification: string | undefined): readonly Mock[] {
  return specification === undefined ? [aimock] : [aimock, steady(specification)]
}
