import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { isRecord, type JsonObject } from '../base/json-value.ts'
import { checkBody } from '../formats/check-body.ts'
import { objectOf, objectsOf, textOf } from '../formats/exact-json.ts'
import { messagesCheck } from '../formats/messages/request.ts'
import { requestReader } from '../formats/responses/request.ts'
import type { TargetProfile } from '../profiles/profile.ts'
import { profileAt, type ProfiledTarget } from '../profiles/resolve-profile.ts'
import { anthropic } from './anthropic.ts'
import { encoded, endpointAt, jsonOf } from './fixtures/load.ts'
import { gemini } from './gemini.ts'
import { openai } from './openai.ts'
import type { Protocol } from './protocol.ts'

/** A habit of a target, with the least request that shows it: a line of test/corpus/wire.jsonl. */
export interface WireFact {
  readonly id: string
  readonly target: ProfiledTarget
  /** What the owner has set there. */
  readonly owned: Partial<TargetProfile>
  readonly request: JsonObject
  /** The format of the request. */
  readonly from: 'chat' | 'messages' | 'responses'
  /** Members of the request as the target has to receive them. */
  readonly sends: JsonObject
  /** Members that the target must not receive. */
  readonly absent: readonly string[]
  /** The message that it answers instead, and its text and reasoning as callers of Messages get them. */
  readonly answer: JsonObject | undefined
  readonly gives: JsonObject
  readonly source: string
  readonly evidence: string
}

/** Reads the corpus. */
export function wireFacts(): readonly WireFact[] {
  const text = readFileSync(new URL('../../test/corpus/wire.jsonl', import.meta.url), 'utf8')
  return text.trimEnd().split('\n').map(parseFact)
}

function parseFact(line: string): WireFact {
  const parsed: unknown = JSON.parse(line)
  const fact: JsonObject = isRecord(parsed) ? parsed : {}
  const { absent } = fact
  const { brand, protocol, model } = objectOf(fact['target'])
  return {
    id: textOf(fact['id']) ?? '',
    target: { brand: textOf(brand), protocol: textOf(protocol) ?? '', model: textOf(model) ?? '' },
    owned: objectOf(fact['owned'])['prompt_cache'] === 'auto' ? { promptCache: 'auto' } : {},
    request: objectOf(fact['request']),
    from: fact['from'] === 'messages' || fact['from'] === 'responses' ? fact['from'] : 'chat',
    sends: objectOf(fact['sends']),
    absent: Array.isArray(absent) ? absent.map(String) : [],
    answer: isRecord(fact['answer']) ? fact['answer'] : undefined,
    gives: objectOf(fact['gives']),
    source: textOf(fact['source']) ?? '',
    evidence: textOf(fact['evidence']) ?? '',
  }
}

/** Providers of the widely used format are ones that speak Responses, too. */
const protocols: Readonly<Record<string, Protocol>> = {
  anthropic,
  gemini,
  openai: { ...openai, dialects: { ...openai.dialects, ...openai.further?.responses } },
}

/** The request as its target receives it. */
export function sentFor({ target, owned, request, from }: WireFact): JsonObject {
  const protocol = protocols[target.protocol]
  if (protocol === undefined) throw new Error(`there is no protocol '${target.protocol}'`)
  const endpoint = endpointAt('http://127.0.0.1:9/v1', { profile: profileAt(target, owned) })
  const asked = { model: target.model, ...request }
  if (from === 'chat') return encoded(protocol, asked, target.model, endpoint)
  const body = Buffer.from(JSON.stringify(asked))
  const [dialect, ask] =
    from === 'messages'
      ? [protocol.dialects.messages, checkBody(body, messagesCheck('messages', [], {}))]
      : [protocol.dialects.responses, checkBody(body, requestReader('responses'))]
  return jsonOf(Buffer.concat([...(dialect?.encode(ask, target.model, endpoint) ?? [])]))
}

/** Text and reasoning of the target's answer, for a caller of Messages. */
export function givenFor({ target, answer }: WireFact): JsonObject {
  const endpoint = endpointAt('http://127.0.0.1:9/v1', { profile: profileAt(target) })
  const asked = { model: target.model, max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }
  const ask = checkBody(Buffer.from(JSON.stringify(asked)), messagesCheck('messages', [], {}))
  const body = Buffer.from(JSON.stringify({ choices: [{ message: answer, finish_reason: 'stop' }] }))
  const whole = protocols[target.protocol]?.dialects.messages?.decode(body, ask, { target: endpoint })
  const blocks = whole === undefined ? [] : objectsOf(jsonOf(whole.body)['content'])
  const textsOf = (name: string): string => blocks.map((block) => textOf(block[name]) ?? '').join('')
  return { text: textsOf('text'), reasoning: textsOf('thinking') }
}

/** The fault of the request that a target receives, or of its answer. `undefined` without one. */
export function wireFault(fact: WireFact): string | undefined {
  if (fact.answer !== undefined) {
    const given = givenFor(fact)
    return isDeepStrictEqual(given, fact.gives) ? undefined : `the answer is ${JSON.stringify(given)}`
  }
  const sent = sentFor(fact)
  const left = fact.absent.filter((name) => name in sent)
  if (left.length > 0) return `${left.join(', ')} must not be sent`
  const wrong = Object.entries(fact.sends).find(([name, value]) => !isDeepStrictEqual(plain(sent[name]), value))
  return wrong && `'${wrong[0]}' is ${JSON.stringify(sent[wrong[0]])}, not ${JSON.stringify(wrong[1])}`
}

function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}
