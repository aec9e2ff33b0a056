import { ask, stage } from '../../test/failover/stage.ts'
import type { Spoken } from '../../test/fakes/faults/spoken.ts'
import {
  answering,
  eventsWith,
  streamed,
  type Language,
  type Piece,
  type Turn,
} from '../../test/fakes/languages/language.ts'
import { messagesLanguage } from '../../test/fakes/languages/messages.ts'
import { responsesLanguage } from '../../test/fakes/languages/responses.ts'
import { startService } from '../../test/harness.ts'
import type { Findings, Target } from '../load/load-report.ts'

/*
 * Sessions of tool steps, as Claude Code (Messages) and Codex (Responses) have them: hidden reasoning, some text, one
 * to three calls. The first provider breaks off in every step, the second answers alike. A session is run once for each
 * place of a cut, so that every event of every step is cut behind.
 */

const stepCount = 20
const atOnce = 8
const goalShare = 0.95
const ways = ['reset', 'end', 'error'] as const

const tools = ['Read', 'Edit', 'Bash'].map((name) => ({ name, description: 'd', schema: { type: 'object' } }))

/** The answer of one step of a session; always the same. */
function piecesOf(session: number, step: number): readonly Piece[] {
  const random = (most: number, salt: number) => (session * 7_919 + step * 104_729 + salt * 1_299_709) % most
  const calls = Array.from({ length: 1 + random(3, 1) }, (_, index): Piece => {
    const name = tools[random(tools.length, index + 2)]?.name ?? ''
    return { kind: 'call', call: { id: `call_${session}_${step}_${index}`, name, input: { path: `/src/${step}.ts` } } }
  })
  const text: Piece = { kind: 'text', text: `Step ${step}.` }
  return [{ kind: 'thinking', text: '', seal: 'sealed' }, ...(random(4, 9) === 0 ? [] : [text]), ...calls]
}

/** The last mark in a request: `step:SESSION:STEP:PLACE:WAY`. */
function markIn(body: Uint8Array): readonly string[] {
  return [...new TextDecoder().decode(body).matchAll(/step:(\d+):(\d+):(\d+):(\w+)/g)].at(-1) ?? []
}

const breakingOff: Spoken = (language) => (exchange) => {
  const [, session, step, place, way] = markIn(exchange.hit.body)
  const { provider } = language
  const pieces = piecesOf(Number(session), Number(step))
  const failure = way === 'error' ? [provider.failure] : []
  const events = [...eventsWith(provider, pieces).slice(0, Number(place)), ...failure]
  return streamed(provider, events, way === 'reset' ? 'close' : 'end')(exchange)
}

const whole: Spoken = (language) => (exchange) => {
  const [, session, step] = markIn(exchange.hit.body)
  return answering(language, piecesOf(Number(session), Number(step)))(exchange)
}

interface Tally {
  runs: number
  wholeRuns: number
  steps: number
  halfCalls: number
  otherCalls: number
  doubledTexts: number
}

/** Runs one session, cut behind this number of events in each step. The session ends where a step is not whole. */
async function runSession(
  url: string,
  language: Language,
  session: number,
  place: number,
  tally: Tally,
  models: () => string,
) {
  const turns: Turn[] = []
  tally.runs += 1
  for (let step = 0; step < stepCount; step++) {
    const pieces = piecesOf(session, step)
    const { provider } = language
    const content = eventsWith(provider, pieces).length - provider.end(pieces).length
    const way = place > content ? 'end' : (ways[(session + step + place) % ways.length] ?? 'end')
    turns.push({ role: 'user', text: `step:${session}:${step}:${place}:${way}` })
    // Of earlier turns an agent sends all; here the last ones will do.
    const answer = await ask(url, language, { model: models(), stream: true, tools, turns: turns.slice(-1) })
    const expected = pieces.flatMap((piece) => (piece.kind === 'call' ? [piece.call] : []))
    const text = pieces.flatMap((piece) => (piece.kind === 'text' ? [piece.text] : [])).join('')
    tally.steps += 1
    tally.halfCalls += answer.calls.filter(({ input }) => !('path' in Object(input))).length
    if (answer.text.length > text.length) tally.doubledTexts += 1
    if (!answer.isComplete) return
    if (
      !Bun.deepEquals(
        answer.calls.map(({ name, input }) => ({ name, input })),
        expected.map(({ name, input }) => ({ name, input })),
      ) ||
      answer.text !== text
    )
      tally.otherCalls += 1
  }
  tally.wholeRuns += 1
}

async function measure(language: Language, count: number): Promise<Tally> {
  const sessions = Array.from({ length: count }, (_, session) => session)
  const placesOf = (session: number) =>
    Math.max(
      ...Array.from({ length: stepCount }, (_, step) => eventsWith(language.provider, piecesOf(session, step)).length),
    )
  const runs = sessions.flatMap((session) =>
    Array.from({ length: placesOf(session) }, (_, place) => ({ session, place })),
  )
  // Fewer failures in a row than open a circuit breaker.
  const names = Array.from({ length: Math.ceil((runs.length * stepCount) / 4) }, (_, index) => `model-${index}`)
  const upstream = stage()
  const entry = { models: names }
  const service = await startService(
    {
      providers: [
        upstream.add({ id: 'first', language, model: '', spoken: breakingOff, entry }),
        upstream.add({ id: 'second', language, model: '', spoken: whole, entry }),
      ],
    },
    { flags: ['--log-level', 'error'] },
  )
  const tally: Tally = { runs: 0, wholeRuns: 0, steps: 0, halfCalls: 0, otherCalls: 0, doubledTexts: 0 }
  let asked = 0
  const models = () => names[asked++ % names.length] ?? ''
  const left = runs[Symbol.iterator]()
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const { session, place } of left) await runSession(service.url, language, session, place, tally, models)
    }),
  )
  const cut = upstream.hits('first').length
  upstream.stop()
  await service.stop()
  if (cut !== tally.steps) throw new Error(`${tally.steps - cut} steps did not reach the first provider`)
  return tally
}

function targetsOf(client: string, tally: Tally): readonly Target[] {
  const { runs, wholeRuns, halfCalls, otherCalls, doubledTexts } = tally
  const share = wholeRuns / runs
  const none = (name: string, count: number): Target => ({
    name: `${client}: no step ${name}`,
    found: String(count),
    isMet: count === 0,
  })
  return [
    {
      name: `${client}: at least 95 % of sessions end whole, cut in every step`,
      found: `${(100 * share).toFixed(1)} %`,
      isMet: share >= goalShare,
    },
    none('has half a call', halfCalls),
    none('has other calls or text than uncut', otherCalls),
    none('has text twice', doubledTexts),
  ]
}

/** Runs sessions of both kinds, each once for every place of a cut. */
export async function cutSessions(sessions: number): Promise<Findings> {
  const count = Math.ceil(sessions / 2)
  const claude = await measure(messagesLanguage, count)
  const codex = await measure(responsesLanguage, count)
  const words = ({ runs, steps }: Tally) => `${runs} runs of ${count} sessions, ${steps} steps, cut behind each event`
  return {
    rows: [
      ['sessions like those of Claude Code (Messages)', words(claude)],
      ['sessions like those of Codex (Responses)', words(codex)],
    ],
    targets: [...targetsOf('Messages', claude), ...targetsOf('Responses', codex)],
    complaints: [],
  }
}
