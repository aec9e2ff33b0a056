import type { JsonObject } from '../../base/json-value.ts'
import { listOf, numberOf, objectOf, objectsOf, parseJsonBytes, textOf } from '../exact-json.ts'
import { madeUpId } from '../made-up-id.ts'
import { itemEvents } from './item-events.ts'

/** Limit of the finished items that are kept for an end without output. */
const keptBytesMax = 4 * 1024 * 1024

/** An item of the output. */
interface KnownItem {
  readonly id: string | undefined
  readonly callId: string | undefined
  readonly type: unknown
  /** Its first part has begun. */
  hasPart: boolean
  hasText: boolean
  isDone: boolean
  /** Its `response.output_item.done`. */
  done: Uint8Array | undefined
}

/** Text that an item got and whose end has not come. */
interface OpenText {
  readonly index: number
  text: string
}

/**
 * Repairs what servers leave out of streams of Responses, and what clients join events by: an item has one id in all
 * events, a call has a `call_id` of its own, text belongs to an item that begins and ends, and the last event has the
 * output. Ids of reasoning stay, since its encrypted content may be bound to them.
 */
export class ItemRepair {
  readonly #items = new Map<number, KnownItem>()
  readonly #callIds = new Set<string>()
  #keptBytes = 0
  #openText: OpenText | undefined
  /** There was text that names no item. */
  #hasLooseText = false

  /** Whether a delta of text is of a known item, with its id. */
  isRight(index: number | undefined, id: string | undefined): boolean {
    if (index === undefined || id === undefined) return true
    const item = this.#items.get(index)
    return item?.hasPart === true && (item.id === undefined || item.id === id)
  }

  /** Keeps a piece of text. */
  addText(index: number, text: string): void {
    if (this.#openText?.index === index) {
      this.#openText.text += text
      return
    }
    this.#openText = { index, text }
    const item = this.#items.get(index)
    if (item === undefined) this.#hasLooseText = true
    else item.hasText = true
  }

  /** The event with the ids of its items, and the output at the end. The same event if it is right. */
  repaired(event: JsonObject): JsonObject {
    const { type, output_index, item, item_id } = event
    const index = numberOf(output_index)
    if (index !== undefined && item !== undefined) {
      const repaired = this.#withIds(index, objectOf(item))
      return repaired === item ? event : { ...event, item: repaired }
    }
    const id = index === undefined || item_id === undefined ? undefined : this.#idAt(index)
    if (id !== undefined && id !== item_id) return { ...event, item_id: id }
    return type === 'response.completed' || type === 'response.incomplete' ? this.#withOutput(event) : event
  }

  /** Notes an event, after its repair. @param data its bytes */
  note({ type, output_index, delta, item }: JsonObject, data: Uint8Array): void {
    const index = numberOf(output_index)
    if (type === 'response.output_text.delta') this.addText(index ?? 0, textOf(delta) ?? '')
    if (index === undefined) return
    const known = this.#items.get(index)
    if (type === 'response.content_part.added' && known !== undefined) known.hasPart = true
    if (type === 'response.output_text.done' || type === 'response.content_part.done') this.#openText = undefined
    if (type === 'response.output_item.done') this.#end(index, objectOf(item), data)
  }

  #end(index: number, item: JsonObject, data: Uint8Array): void {
    const known = this.#items.get(index) ?? this.#begin(index, item)
    known.isDone = true
    this.#openText = undefined
    this.#keptBytes += data.length
    if (this.#keptBytes <= keptBytesMax) known.done = data
  }

  /** Events that have to come before this one: the beginning of an item and of its text, and the ends of items. */
  missingBefore(event: JsonObject): readonly JsonObject[] {
    const { type, output_index, item, item_id, response } = event
    if (type === 'response.completed' || type === 'response.incomplete') return this.#missingEnds(objectOf(response))
    const index = numberOf(output_index)
    if (index === undefined) return []
    if (type === 'response.output_item.done')
      return this.#items.has(index) || this.#hasLooseText ? [] : itemEvents(objectOf(item), index).slice(0, -1)
    const id = textOf(item_id)
    const beginnings = id === undefined ? undefined : partBeginnings[String(type)]
    return beginnings === undefined ? [] : this.#missingBeginning(index, id, beginnings)
  }

  /** @param count of the events that come before a part, or its text */
  #missingBeginning(index: number, id: string | undefined, count: number): readonly JsonObject[] {
    const known = this.#items.get(index)
    if (known?.hasPart === true || (known !== undefined && known.type !== 'message')) return []
    return itemEvents(messageOf(known?.id ?? id, ''), index).slice(known === undefined ? 0 : 1, count)
  }

  /** The ends of messages that have none, and whole items that were not sent. */
  #missingEnds({ output, status }: JsonObject): readonly JsonObject[] {
    const listed = objectsOf(output)
    if (this.#items.size === 0) return listed.flatMap(itemEvents)
    return [...this.#items].flatMap(([index, known]) => {
      if (known.isDone || known.type !== 'message') return []
      const open = this.#openText?.index === index ? this.#openText : undefined
      const found = listed[index]?.['type'] === 'message' ? listed[index] : undefined
      if (found === undefined && open === undefined) return []
      const item = found ?? { ...messageOf(known.id, open?.text ?? ''), status }
      const events = itemEvents(this.#withIds(index, item), index)
      return events.slice(!known.hasText ? 1 : open === undefined ? -1 : -3)
    })
  }

  /** The id of an item in all its events. Undefined: it may differ. */
  #idAt(index: number): string | undefined {
    const item = this.#items.get(index)
    return item?.type === 'reasoning' ? undefined : item?.id
  }

  #withIds(index: number, item: JsonObject): JsonObject {
    const known = this.#items.get(index) ?? this.#begin(index, item)
    const id = this.#idAt(index) ?? item['id']
    const callId = known.callId ?? item['call_id']
    if (id === item['id'] && callId === item['call_id']) return item
    return { ...item, id, ...(callId === undefined ? {} : { call_id: callId }) }
  }

  #begin(index: number, { id, call_id, type }: JsonObject): KnownItem {
    const given = textOf(call_id)
    const callId = given !== undefined && this.#callIds.has(given) ? madeUpId('call_') : given
    if (callId !== undefined) this.#callIds.add(callId)
    const item: KnownItem = {
      id: textOf(id),
      callId,
      type,
      hasPart: false,
      hasText: false,
      isDone: false,
      done: undefined,
    }
    this.#items.set(index, item)
    return item
  }

  #withOutput(event: JsonObject): JsonObject {
    const response = objectOf(event['response'])
    const given = listOf(response['output'])
    if (given.length > 0) {
      const output = given.map((item, index) => (this.#items.has(index) ? this.#withIds(index, objectOf(item)) : item))
      return output.every((item, index) => item === given[index])
        ? event
        : { ...event, response: { ...response, output } }
    }
    const items = [...this.#items].sort(([one], [other]) => one - other)
    const output = items.flatMap(([, { done }]) => (done === undefined ? [] : [objectOf(parseJsonBytes(done))['item']]))
    return output.length === 0 ? event : { ...event, response: { ...response, output } }
  }
}

/** The events of a message before these: its own beginning, and that of the part. */
const partBeginnings: Readonly<Record<string, number>> = {
  'response.content_part.added': 1,
  'response.output_text.delta': 2,
}

function messageOf(id: string | undefined, text: string): JsonObject {
  const content = [{ type: 'output_text', text, annotations: [], logprobs: [] }]
  return { id: id ?? madeUpId('msg_'), type: 'message', role: 'assistant', status: 'completed', content }
}
