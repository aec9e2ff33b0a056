import type { JsonObject } from '../../base/json-value.ts'
import { encodeJson } from '../exact-json.ts'
import type { Part } from '../part.ts'

/** An event as a part. */
export function messagePart(event: JsonObject, facts: Partial<Part> = {}): Part {
  return { ...recordPart(facts), data: encodeJson(event), event: String(event['type']) }
}

/** A part for the record only. */
export function recordPart(facts: Partial<Part>): Part {
  return {
    kind: 'part',
    data: noData,
    isMeaningful: false,
    text: '',
    isBeyondText: false,
    finishReason: undefined,
    hasOpenChoice: false,
    usage: undefined,
    ...facts,
  }
}

const noData = new Uint8Array()
