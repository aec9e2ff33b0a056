/** Reads OTLP messages, for tests. A Python library of OpenTelemetry is its referee (`test/telemetry.test.ts`). */

type Kind = 'text' | 'id' | 'whole' | 'fixed' | 'double' | 'fixed32' | 'truth' | 'doubles' | 'counts'
type Shape = Readonly<Record<number, readonly [name: string, kind: Kind | (() => Shape), isList?: 'list']>>

const anyValue: Shape = {
  1: ['stringValue', 'text'],
  2: ['boolValue', 'truth'],
  3: ['intValue', 'whole'],
  4: ['doubleValue', 'double'],
  5: ['arrayValue', () => ({ 1: ['values', () => anyValue, 'list'] })],
}
const pair = (): Shape => ({ 1: ['key', 'text'], 2: ['value', () => anyValue] })
const resource = (): Shape => ({ 1: ['attributes', pair, 'list'] })
const scope = (): Shape => ({ 1: ['name', 'text'], 2: ['version', 'text'] })
const event = (): Shape => ({ 1: ['timeUnixNano', 'fixed'], 2: ['name', 'text'], 3: ['attributes', pair, 'list'] })
const span = (): Shape => ({
  1: ['traceId', 'id'],
  2: ['spanId', 'id'],
  3: ['traceState', 'text'],
  4: ['parentSpanId', 'id'],
  5: ['name', 'text'],
  6: ['kind', 'whole'],
  7: ['startTimeUnixNano', 'fixed'],
  8: ['endTimeUnixNano', 'fixed'],
  9: ['attributes', pair, 'list'],
  11: ['events', event, 'list'],
  15: ['status', () => ({ 3: ['code', 'whole'] })],
  16: ['flags', 'fixed32'],
})
const point = (): Shape => ({
  2: ['startTimeUnixNano', 'fixed'],
  3: ['timeUnixNano', 'fixed'],
  4: ['asDouble', 'double'],
  7: ['attributes', pair, 'list'],
})
const histogramPoint = (): Shape => ({
  2: ['startTimeUnixNano', 'fixed'],
  3: ['timeUnixNano', 'fixed'],
  4: ['count', 'fixed'],
  5: ['sum', 'double'],
  6: ['bucketCounts', 'counts'],
  7: ['explicitBounds', 'doubles'],
  9: ['attributes', pair, 'list'],
})
const data = (shape: () => Shape) => (): Shape => ({
  1: ['dataPoints', shape, 'list'],
  2: ['aggregationTemporality', 'whole'],
  3: ['isMonotonic', 'truth'],
})
const metric = (): Shape => ({
  1: ['name', 'text'],
  2: ['description', 'text'],
  3: ['unit', 'text'],
  5: ['gauge', data(point)],
  7: ['sum', data(point)],
  9: ['histogram', data(histogramPoint)],
})
const messages = {
  traces: { 1: ['resourceSpans', () => scopes('scopeSpans', 'spans', span), 'list'] },
  metrics: { 1: ['resourceMetrics', () => scopes('scopeMetrics', 'metrics', metric), 'list'] },
} as const satisfies Readonly<Record<string, Shape>>

function scopes(name: string, items: string, item: () => Shape): Shape {
  return { 1: ['resource', resource], 2: [name, () => ({ 1: ['scope', scope], 2: [items, item, 'list'] }), 'list'] }
}

export type OtlpSignal = keyof typeof messages

/** A message as its JSON mapping has it, but ids in hexadecimal. */
export interface OtlpMessage {
  readonly [name: string]: unknown
}

/** @throws {Error} for a field that OTLP does not have, or bytes that are no message */
export function decodeOtlp(signal: OtlpSignal, bytes: Uint8Array): OtlpMessage {
  return decode(Buffer.from(bytes), messages[signal])
}

function decode(bytes: Buffer, shape: Shape): OtlpMessage {
  const found: Record<string, unknown> = {}
  let position = 0

  function varint(): number {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(position++)
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return Number(value)
    }
  }

  while (position < bytes.length) {
    const tag = varint()
    const [name, kind, isList] = shape[tag >> 3] ?? []
    if (name === undefined || kind === undefined) throw new Error(`no field ${tag >> 3}`)
    const width = widthOf(tag & 7, kind, varint)
    const value = width === undefined ? undefined : bytes.subarray(position, (position += width))
    if (position > bytes.length) throw new Error(`${name} is cut`)
    const read = value === undefined ? varint() : valueOf(value, kind)
    const whole = kind === 'truth' ? read === 1 : read
    if (isList === undefined && name in found) throw new Error(`${name} stands twice`)
    if (isList === undefined) found[name] = whole
    else {
      const list = found[name]
      if (Array.isArray(list)) list.push(whole)
      else found[name] = [whole]
    }
  }
  return found
}

/** @returns undefined: the value is a varint */
function widthOf(type: number, kind: Kind | (() => Shape), varint: () => number): number | undefined {
  const wanted =
    kind === 'whole' || kind === 'truth' ? 0 : kind === 'fixed' || kind === 'double' ? 1 : kind === 'fixed32' ? 5 : 2
  if (type !== wanted) throw new Error(`wire type ${type} of ${String(kind)}`)
  return type === 0 ? undefined : type === 1 ? 8 : type === 5 ? 4 : varint()
}

function valueOf(bytes: Buffer, kind: Kind | (() => Shape)): unknown {
  if (typeof kind === 'function') return decode(bytes, kind())
  switch (kind) {
    case 'text':
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    case 'id':
      return bytes.toString('hex')
    case 'fixed':
      return bytes.readBigUInt64LE().toString()
    case 'fixed32':
      return bytes.readUInt32LE()
    case 'double':
      return bytes.readDoubleLE()
    case 'doubles':
      return Array.from({ length: bytes.length / 8 }, (_, index) => bytes.readDoubleLE(index * 8))
    case 'counts':
      return Array.from({ length: bytes.length / 8 }, (_, index) => bytes.readBigUInt64LE(index * 8).toString())
    default:
      throw new Error(`no bytes: ${kind}`)
  }
}
