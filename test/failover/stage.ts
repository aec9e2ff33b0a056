import { faultUpstream, type Hit } from '../fakes/fault-upstream.ts'
import type { Spoken } from '../fakes/faults/spoken.ts'
import { chatLanguage } from '../fakes/languages/chat.ts'
import { geminiLanguage } from '../fakes/languages/gemini.ts'
import type { Answer, Language, Question } from '../fakes/languages/language.ts'
import { messagesLanguage } from '../fakes/languages/messages.ts'
import { responsesLanguage } from '../fakes/languages/responses.ts'
import type { ProviderEntry } from '../harness.ts'

/** All formats, of callers and of providers. */
export const languages: readonly Language[] = [chatLanguage, messagesLanguage, responsesLanguage, geminiLanguage]

/** A caller's format before a provider's. */
export interface Pair {
  readonly caller: Language
  readonly provider: Language
}

/** Each caller's format natively and translated. The turn decides which other format is the provider's. */
export function pairsOf(turn: number): readonly Pair[] {
  return languages.flatMap((caller, position) => [
    { caller, provider: caller },
    { caller, provider: languages[(position + 1 + (turn % 3)) % languages.length] ?? caller },
  ])
}

/** One upstream that plays many providers. The first folder of a path names the provider. */
export interface Stage {
  /** Adds a provider with one model. */
  add(provider: ActingProvider): ProviderEntry
  /** Replaces the answers of a provider. */
  use(id: string, spoken: Spoken): void
  /** Requests that a provider received, in order. */
  hits(id: string): readonly Hit[]
  /** Protocol errors of received requests. */
  readonly faults: readonly string[]
  stop(): void
}

export interface ActingProvider {
  readonly id: string
  readonly language: Language
  readonly model: string
  /** In the format of the request: a provider of Responses speaks chat completions, too. */
  readonly spoken: Spoken
  /** Additional fields of its entry. */
  readonly entry?: Readonly<Record<string, unknown>> | undefined
}

export function stage(): Stage {
  const acts = new Map<string, { readonly language: Language; readonly hits: Hit[]; spoken: Spoken }>()
  const upstream = faultUpstream((exchange) => {
    const { path } = exchange.hit
    const act = acts.get(path.split('/')[1] ?? '')
    if (act === undefined) throw new Error(`no provider has the path ${path}`)
    act.hits.push(exchange.hit)
    return act.spoken(path.endsWith('/chat/completions') ? chatLanguage : act.language)(exchange)
  })
  const origin = upstream.url.replace(/\/v1$/, '')

  function actOf(id: string) {
    const act = acts.get(id)
    if (act === undefined) throw new Error(`there is no provider ${id}`)
    return act
  }

  return {
    add({ id, language, model, spoken, entry }) {
      acts.set(id, { language, hits: [], spoken })
      const isOpenai = language === chatLanguage || language === responsesLanguage
      const base_url = `${origin}/${id}${isOpenai ? '/v1' : ''}`
      return { id, base_url, api_key: 'k', ...language.provider.entry, models: [model], ...entry }
    },
    use(id, spoken) {
      actOf(id).spoken = spoken
    },
    hits: (id) => actOf(id).hits,
    faults: upstream.faults,
    stop: () => upstream.stop(),
  }
}

/** An answer as a caller got it. */
export interface Heard extends Answer {
  readonly headers: Headers
  readonly body: string
}

/** Asks in a caller's format. */
export async function ask(
  url: string,
  caller: Language,
  question: Partial<Question> & Pick<Question, 'model'>,
): Promise<Heard> {
  const asked: Question = { stream: false, turns: [{ role: 'user', text: 'Hello' }], ...question }
  const response = await fetch(`${url}${caller.caller.path(asked)}`, {
    method: 'POST',
    body: JSON.stringify(caller.caller.body(asked)),
  })
  const body = await response.text()
  const isStream = (response.headers.get('content-type') ?? '').startsWith('text/event-stream')
  const { status, headers } = response
  return { status, headers, body, ...caller.caller.read(body, isStream) }
}
