import type { AttributeType, RecordField, SpanKind } from '../fields.ts'
import { ProtobufWriter } from './protobuf.ts'

/** Most characters of a text. */
const textMax = 256
const textsMax = 32

/** Fields of KeyValue, AnyValue and ArrayValue (opentelemetry/proto/common/v1/common.proto). */
const key = 1,
  value = 2,
  textValue = 1,
  truthValue = 2,
  wholeValue = 3,
  fractionValue = 4,
  arrayValue = 5,
  arrayItem = 1

/** Writes one attribute. `field`: the number of `attributes` in its message. */
export type WriteAttribute = (out: ProtobufWriter, field: number, fact: unknown) => void

/** Makes the writer of an attribute. Values of another type are left out. */
export function attributeWriter(name: string, type: AttributeType): WriteAttribute {
  const head = new ProtobufWriter(name.length + 16)
  head.text(key, name)
  const named = head.take()
  return (out, field, fact) => {
    if (!isOfType(type, fact)) return
    const pair = out.begin(field)
    out.raw(named)
    const any = out.begin(value)
    writeValue(out, type, fact)
    out.end(any)
    out.end(pair)
  }
}

/** An attribute that always has this value, as bytes. */
export function constantAttribute(field: number, name: string, text: string): Uint8Array {
  const out = new ProtobufWriter(name.length + text.length + 16)
  attributeWriter(name, 'text')(out, field, text)
  return out.take()
}

function isOfType(type: AttributeType, fact: unknown): boolean {
  switch (type) {
    case 'text':
      return typeof fact === 'string'
    case 'truth':
      return typeof fact === 'boolean'
    case 'texts':
      return Array.isArray(fact)
    case 'whole':
      return typeof fact === 'number' && Number.isSafeInteger(fact) && fact >= 0
    case 'fraction':
      return typeof fact === 'number' && Number.isFinite(fact)
  }
}

function writeValue(out: ProtobufWriter, type: AttributeType, fact: unknown): void {
  if (typeof fact === 'string') out.text(textValue, bounded(fact))
  else if (typeof fact === 'boolean') out.varint(truthValue, fact ? 1 : 0)
  else if (typeof fact === 'number' && type === 'whole') out.varint(wholeValue, fact)
  else if (typeof fact === 'number') out.double(fractionValue, fact)
  else if (Array.isArray(fact)) {
    const array = out.begin(arrayValue)
    for (const text of fact.slice(0, textsMax)) {
      const item = out.begin(arrayItem)
      out.text(textValue, bounded(String(text)))
      out.end(item)
    }
    out.end(array)
  }
}

function bounded(text: string): string {
  return text.length > textMax ? text.slice(0, textMax) : text
}

/** Writes the attributes that a table of facts has for a kind of span. */
export function attributesOf<Facts, Charge, Entry>(
  fields: readonly RecordField<Facts, Charge, Entry>[],
  kind: SpanKind,
): (out: ProtobufWriter, field: number, facts: Facts) => void {
  const all = fields.flatMap(({ spans, of, unit }) => {
    const name = spans?.[kind]
    const { attribute } = unit
    return name === undefined || attribute === undefined ? [] : [{ of, unit, write: attributeWriter(name, attribute) }]
  })
  return (out, field, facts) => {
    for (const { of, unit, write } of all) {
      const fact = of(facts)
      if (fact !== undefined) write(out, field, unit.shown(fact))
    }
  }
}
