import { faultUpstream, type FaultUpstream, type Script } from '../../test/fakes/fault-upstream.ts'
import { status } from '../../test/fakes/faults/status.ts'
import { chatLanguage } from '../../test/fakes/languages/chat.ts'
import { geminiLanguage } from '../../test/fakes/languages/gemini.ts'
import { answering, breaking, stalling, type Language, type Piece } from '../../test/fakes/languages/language.ts'
import { messagesLanguage } from '../../test/fakes/languages/messages.ts'
import { responsesLanguage } from '../../test/fakes/languages/responses.ts'
import type { ProviderEntry } from '../../test/harness.ts'

/** The formats of providers. */
export const languages: readonly Language[] = [chatLanguage, messagesLanguage, responsesLanguage, geminiLanguage]

/** What scripted providers say. */
export const said = {
  text: 'Hello, you out there.',
  thinking: 'Let me see about it.',
  structured: { population_of_matrix: 7 },
  afterTools: 'Sunny.',
} as const

/** A provider that speaks Responses speaks chat completions, too. */
export function languageAt(language: Language, path: string): Language {
  return path.endsWith('/chat/completions') ? chatLanguage : language
}

/** The model's name at a provider: some names decide how requests are written. */
export function modelOf({ name }: Language): string {
  return { chat: 'upstream-model', messages: 'claude-sonnet-4-5', responses: 'upstream-model', gemini: 'gemini-3-pro' }[
    name
  ]
}

/** The entry of a provider that serves these models. */
export function entryOf(
  id: string,
  language: Language,
  { url }: FaultUpstream,
  models: readonly string[],
): ProviderEntry {
  const isVersioned = language === chatLanguage || language === responsesLanguage
  return {
    id,
    base_url: isVersioned ? url : url.replace(/\/v1$/, ''),
    api_key: 'k',
    ...language.provider.entry,
    models: models.map((name) => ({ name, upstream: modelOf(language) })),
  }
}

/** Number of results of tools in a request. */
export function resultsIn(language: Language, body: string): number {
  return body.match(language.provider.resultMark)?.length ?? 0
}

const callsOf = (...cities: readonly string[]): readonly Piece[] =>
  cities.map((city, index) => ({ kind: 'call', call: { id: `call_${index}`, name: 'weather', input: { city } } }))

/** Answers by the mark in the question: `[[tools]]` with two calls, and so on. */
function answersByMark(provider: Language): Script {
  return (exchange) => {
    const language = languageAt(provider, exchange.hit.path)
    const body = new TextDecoder().decode(exchange.hit.body)
    const says = (...pieces: readonly Piece[]) => answering(language, pieces)(exchange)
    if (resultsIn(language, body) > 0) return says({ kind: 'text', text: said.afterTools })
    if (body.includes('[[tools]]')) return says(...callsOf('Rome', 'Oslo'))
    if (body.includes('[[structured]]')) return says({ kind: 'text', text: JSON.stringify(said.structured) })
    if (body.includes('[[reasoning]]'))
      return says({ kind: 'thinking', text: said.thinking, seal: `seal-of-${language.name}` }, ...callsOf('Rome'))
    if (body.includes('[[abort]]')) return stalling(language, { kind: 'text', text: said.text })(exchange)
    return says({ kind: 'text', text: said.text })
  }
}

/** Fails by the mark in the question: `[[cut]]` and `[[late]]` in the stream, else with 503. */
function failsByMark(provider: Language): Script {
  return (exchange) => {
    const language = languageAt(provider, exchange.hit.path)
    const body = new TextDecoder().decode(exchange.hit.body)
    const half: readonly Piece[] = [{ kind: 'text', text: said.text }]
    if (body.includes('[[cut]]')) return breaking(language, half, 'cut')(exchange)
    if (body.includes('[[late]]')) return breaking(language, half, 'error')(exchange)
    return status(503)(exchange)
  }
}

/** A failing and a healthy provider of a format. */
export interface ScriptedPair {
  readonly first: FaultUpstream
  readonly main: FaultUpstream
  readonly entries: readonly ProviderEntry[]
  stop(): void
}

/** Starts both. Each scenario is a model with a failing provider of its own; `alone` have no other. */
export function scriptedPair(language: Language, scenarios: readonly string[], alone: readonly string[]): ScriptedPair {
  const first = faultUpstream(failsByMark(language))
  const main = faultUpstream(answersByMark(language))
  return {
    first,
    main,
    entries: [
      ...scenarios.map((name) => entryOf(`first-${name}`, language, first, [name])),
      entryOf(
        'main',
        language,
        main,
        scenarios.filter((name) => !alone.includes(name)),
      ),
    ],
    stop() {
      first.stop()
      main.stop()
    },
  }
}
