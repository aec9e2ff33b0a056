import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { isRecord, type JsonObject } from '../base/json-value.ts'
import { checkBody } from '../formats/check-body.ts'
import { objectOf, textOf } from '../formats/exact-json.ts'
import { messagesCheck } from '../formats/messages/request.ts'
import { requestReader } from '../formats/responses/request.ts'
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
  readonly request: JsonObject
  /** The format of the request. */
  readonly from: 'chat' | 'messages' | 'responses'
  /** Members of the request as the target has to receive them. */
  readonly sends: JsonObject
  /** Members that the target must not receive. */
  readonly absent: readonly string[]
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
    request: objectOf(fact['request']),
    from: fact['from'] === 'messages' || fact['from'] === 'responses' ? fact['from'] : 'chat',
    sends: objectOf(fact['sends']),
    absent: Array.isArray(absent) ? absent.map(String) : [],
    source: textOf(fact['source']) ?? '',
    evidence: textOf(fact['evidence']) ?? '',
  }
}

const protocols: Readonly<Record<string, Protocol>> = { anthropic, gemini, openai }

/** The request as its target receives it. */
export function sentFor({ target, request, from }: WireFact): JsonObject {
  const protocol = protocols[target.protocol]
  if (protocol === undefined) throw new Error(`there is no protocol '${target.protocol}'`)
  const endpoint = endpointAt('http://127.0.0.1:9/v1', { profile: profileAt(target) })
  const asked = { model: target.model, ...request }
  if (from === 'chat') return encoded(protocol, asked, target.model, endpoint)
  const body = Buffer.from(JSON.stringify(asked))
  // Of those that speak Responses, since others get chat completions.
  const [dialect, ask] =
    from === 'messages'
      ? [protocol.dialects.messages, checkBody(body, messagesCheck('messages', [], {}))]
      : [protocol.further?.responses.responses, checkBody(body, requestReader('responses'))]
  const spoken = dialect?.instead?.(ask, endpoint.profile) ?? dialect
  return jsonOf(Buffer.concat([...(spoken?.encode(ask, target.model, endpoint) ?? [])]))
}

/** What is wrong with the request that a target receives. Undefined: nothing. */
export function wireFault(fact: WireFact): string | undefined {
  const sent = sentFor(fact)
  const left = fact.absent.filter((name) => name in sent)
  if (left.length > 0) return `${left.join(', ')} must not be sent`
  const wrong = Object.entries(fact.sends).find(([name, value]) => !isDeepStrictEqual(plain(sent[name]), value))
  return wrong && `'${wrong[0]}' is ${JSON.stringify(sent[wrong[0]])}, not ${JSON.stringify(wrong[1])}`
}

function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}
