import { encode } from '../../bytes/text.ts'
import type { Part } from '../part.ts'

const nothing = new Uint8Array()

/** A part that is one event, or for the record only. */
export function responsePart(event: string | undefined, json: string | undefined, facts: Partial<Part> = {}): Part {
  return {
    kind: 'part',
    data: json === undefined ? nothing : encode(json),
    event,
    isMeaningful: facts.isMeaningful ?? false,
    isProgress: facts.isProgress,
    text: facts.text ?? '',
    isBeyondText: facts.isBeyondText ?? false,
    finishReason: facts.finishReason,
    hasOpenChoice: facts.hasOpenChoice ?? true,
    usage: facts.usage,
  }
}
