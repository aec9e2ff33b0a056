import type { JsonObject } from '../../base/json-value.ts'
import { isObject, numberOf, objectOf, parseJson, textOf } from '../exact-json.ts'
import { MalformedAnswer } from '../malformed-answer.ts'

/** Gathers the events of a stream into a whole Message. */
export interface GatheredMessage {
  add(event: JsonObject): void
  /** @throws {MalformedAnswer} without a start, and for the input of a tool that is not JSON */
  finish(): JsonObject
}

interface GatheredBlock {
  readonly members: Record<string, unknown>
  /** The JSON of a tool's input. */
  input: string
}

/** Starts gathering. Members of unknown deltas are left out. */
export function gatheredMessage(): GatheredMessage {
  let head: JsonObject | undefined
  let end: JsonObject = {}
  let usage: JsonObject = {}
  const blocks = new Map<number, GatheredBlock>()

  function addDelta({ members }: GatheredBlock, delta: JsonObject): void {
    const append = (name: string, more: unknown) => {
      members[name] = (textOf(members[name]) ?? '') + (textOf(more) ?? '')
    }
    switch (delta['type']) {
      case 'text_delta':
        return append('text', delta['text'])
      case 'thinking_delta':
        return append('thinking', delta['thinking'])
      case 'signature_delta':
        return append('signature', delta['signature'])
      case 'citations_delta':
        members['citations'] = [...citationsOf(members), delta['citation']]
    }
  }

  return {
    add(event) {
      const index = numberOf(event['index']) ?? 0
      switch (event['type']) {
        case 'message_start':
          head ??= objectOf(event['message'])
          usage = { ...usage, ...filled(objectOf(event['message'])['usage']) }
          break
        case 'content_block_start':
          blocks.set(index, { members: { ...objectOf(event['content_block']) }, input: '' })
          break
        case 'content_block_delta': {
          const block = blocks.get(index)
          const delta = objectOf(event['delta'])
          if (block === undefined) throw new MalformedAnswer('malformed', 'a delta belongs to no block')
          if (delta['type'] === 'input_json_delta') block.input += textOf(delta['partial_json']) ?? ''
          else addDelta(block, delta)
          break
        }
        case 'message_delta':
          end = { ...end, ...objectOf(event['delta']) }
          usage = { ...usage, ...filled(event['usage']) }
      }
    },
    finish() {
      if (head === undefined) throw new MalformedAnswer('malformed', 'the stream had no message')
      // A call that reached the limit is not to be run.
      const isCut = end['stop_reason'] === 'max_tokens'
      const content = [...blocks].sort(([one], [other]) => one - other).map(([, block]) => whole(block, isCut))
      return { ...head, content, ...end, usage }
    },
  }
}

function whole({ members, input }: GatheredBlock, isCut: boolean): JsonObject {
  if (input === '') return members
  try {
    return { ...members, input: parseJson(input) }
  } catch (cause) {
    if (isCut) return members
    throw new MalformedAnswer('malformed', 'the input of a tool is not JSON', { cause })
  }
}

function citationsOf({ citations }: JsonObject): readonly unknown[] {
  return Array.isArray(citations) ? citations : []
}

function filled(usage: unknown): JsonObject {
  return isObject(usage) ? Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== null)) : {}
}
